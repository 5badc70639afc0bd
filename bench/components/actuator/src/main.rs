//! The end of a chain: sets what it is told, within limits.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_bench::Stage;
// Relaxed: one thread calls it.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const MAXIMUM: u64 = 1_000;

struct Actuator(AtomicU64);
static ACTUATOR: Actuator = Actuator(AtomicU64::new(0));

cairn::component! {
    name: "actuator",
    exports: { stage: Stage = ACTUATOR },
}

impl Stage for Actuator {
    fn take(&self, reading: u64) -> Result<u64, Error> {
        let position = reading.min(MAXIMUM);
        self.0.store(position, Relaxed);
        Ok(position)
    }
}
