//! When a call may go on, so that not more go on than so many a second.

// Relaxed: a time, which says nothing of other memory.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The time from which on the next call may go on.
pub struct Pace(AtomicU64);

impl Pace {
    /// Nobody came yet.
    pub const fn begin() -> Pace {
        Pace(AtomicU64::new(0))
    }

    /// A call comes at `now`: when it may go on, `apart` behind the one before it.
    pub fn next(&self, now: u64, apart: u64) -> u64 {
        let later = |due: u64| Some(due.max(now).saturating_add(apart));
        let due = self.0.fetch_update(Relaxed, Relaxed, later).unwrap_or_else(|due| due);
        due.max(now)
    }

    /// Who waits does so as long as it was told; who comes from now on does not wait for those.
    pub fn forget(&self) {
        self.0.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_go_on_one_behind_the_other() {
        let pace = Pace::begin();
        assert_eq!([100, 101, 102].map(|now| pace.next(now, 50)), [100, 150, 200]);
        assert_eq!(pace.next(1000, 50), 1000, "nothing is saved up");
        assert_eq!(pace.next(1000, u64::MAX), 1050);
        assert_eq!(pace.next(2000, 1), u64::MAX);
        pace.forget();
        assert_eq!(pace.next(2001, 1), 2001);
    }
}
