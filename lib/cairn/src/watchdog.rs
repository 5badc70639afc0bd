//! A promise that a component does something again and again, and its end when it does not.

use crate::Error;
use crate::thread::{JoinHandle, Stack, sleep_until, spawn};
use crate::time::{Duration, Instant};
// Relaxed: the time is all that is known of a feeding.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// No time at which it was fed.
const STOPPED: u64 = u64::MAX;

/// Who starts this promises to feed it within each period. If that does not happen, the component ends with a panic, whose
/// report says so, and starts again if its description has it so: `restart = "on-fault"`.
///
/// A thread of the component looks after it, so its priority has to be above that of the threads whose work is promised: one
/// that keeps the processor keeps it from those that are less urgent. It costs a thread of the description's `threads`.
pub struct Watchdog {
    name: &'static str,
    period: Duration,
    /// Ticks.
    fed: AtomicU64,
}

impl Watchdog {
    /// Its name is for the report.
    pub const fn new(name: &'static str, period: Duration) -> Watchdog {
        Watchdog { name, period, fed: AtomicU64::new(STOPPED) }
    }

    /// The first period begins, and a thread looks after it. What it answers is what [`spawn`] does, and [`Error::Busy`] while the promise
    /// that was made before holds, which goes on.
    pub fn start<const BYTES: usize>(
        &'static self,
        stack: &'static Stack<BYTES>,
        priority: u8,
    ) -> Result<JoinHandle<()>, Error> {
        let now = Instant::now().ticks();
        self.fed.compare_exchange(STOPPED, now, Relaxed, Relaxed).map_err(|_| Error::Busy)?;
        spawn(stack, priority, || self.look()).inspect_err(|_| self.stop())
    }

    /// The next period begins.
    #[inline(always)]
    pub fn feed(&self) {
        self.fed.store(Instant::now().ticks(), Relaxed);
    }

    /// Nothing is promised any more; its thread ends at the end of the period.
    pub fn stop(&self) {
        self.fed.store(STOPPED, Relaxed);
    }

    fn look(&self) {
        loop {
            let fed = self.fed.load(Relaxed);
            let end = Instant::from_ticks(fed) + self.period;
            if fed == STOPPED {
                return;
            }
            if sleep_until(end).is_err() {
                return self.stop();
            }
            if self.fed.load(Relaxed) == fed {
                let late = Instant::from_ticks(fed).elapsed();
                panic!(
                    "watchdog `{}` was not fed for {late:?}, expected within {:?}",
                    self.name, self.period
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_is_made_twice_holds() {
        static TWICE: Watchdog = Watchdog::new("twice", Duration::from_millis(50));
        static STACKS: [Stack<4096>; 2] = [const { Stack::new() }; 2];
        let looks = TWICE.start(&STACKS[0], 0).unwrap();
        assert_eq!(TWICE.start(&STACKS[0], 0).err(), Some(Error::Busy));
        assert_eq!(TWICE.start(&STACKS[1], 0).err(), Some(Error::Busy));
        assert_eq!(looks.join(), Err(Error::Dead), "it was not fed");
    }
}
