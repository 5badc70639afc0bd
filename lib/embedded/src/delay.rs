//! Delays.

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces::ClockProxy;
use embedded_hal::delay::DelayNs;

/// The thread sleeps, at least as long as it is told.
#[derive(Clone, Copy, Debug)]
pub struct Delay(pub ClockProxy);

impl Delay {
    fn wait(&self, nanoseconds: u64) {
        // A tick more: the one that has begun is not whole.
        let end = now() + ticks(nanoseconds.div_ceil(1000)) + 1;
        match self.0.sleep(nanoseconds) {
            // A thread that is called home is not to stay.
            Ok(()) | Err(Error::Cancelled) => {}
            // The trait knows no errors, so one whose clock has died waits all the same.
            Err(_) => while now() < end {},
        }
    }
}

impl DelayNs for Delay {
    fn delay_ns(&mut self, nanoseconds: u32) {
        self.wait(nanoseconds.into());
    }

    // In one go, not in pieces of what 32 bits hold.
    fn delay_us(&mut self, microseconds: u32) {
        self.wait(u64::from(microseconds) * 1000);
    }

    fn delay_ms(&mut self, milliseconds: u32) {
        self.wait(u64::from(milliseconds) * 1_000_000);
    }
}
