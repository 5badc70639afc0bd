//! The threads that wait for input.

// Relaxed: an exchange that fails uses nothing but the word that it read.
use core::sync::atomic::{AtomicU64, Ordering};

/// Readers that wait, counted in rounds: a round ends when all of them are woken. So a reader that
/// does not wait after all takes back its own count, and never one of a later round.
pub struct Readers(AtomicU64);

/// The round is the upper half of the word, the number of readers the lower one.
const ROUND_SHIFT: u32 = 32;
const COUNT: u64 = (1 << ROUND_SHIFT) - 1;

/// The round in which a reader counted itself.
#[derive(Clone, Copy)]
pub struct Place(u64);

impl Readers {
    /// No thread waits.
    pub const fn new() -> Readers {
        Readers(AtomicU64::new(0))
    }

    /// A reader is about to look, and then to wait.
    pub fn count(&self) -> Place {
        Place(self.0.fetch_add(1, Ordering::AcqRel) >> ROUND_SHIFT)
    }

    /// It does not wait. False: it was woken meanwhile, so a wake-up comes for it that it has to take, or whoever
    /// waits next would be woken for nothing.
    #[must_use]
    pub fn withdraw(&self, place: Place) -> bool {
        let withdrawn = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| {
            (word >> ROUND_SHIFT == place.0 && word & COUNT > 0).then(|| word - 1)
        });
        withdrawn.is_ok()
    }

    /// How many are to be woken; the next round begins.
    pub fn take_all(&self) -> u64 {
        let next = |word: u64| Some(((word >> ROUND_SHIFT) + 1) << ROUND_SHIFT);
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next);
        before.unwrap_or(0) & COUNT
    }
}

impl Default for Readers {
    fn default() -> Readers {
        Readers::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_withdraws_takes_nobody_elses_count() {
        let readers = Readers::new();
        let first = readers.count();
        assert_eq!(readers.take_all(), 1);
        // The first was woken, but finds its bytes before it waits; a second waits now.
        let second = readers.count();
        assert!(!readers.withdraw(first), "its wake-up is there");
        assert_eq!(readers.take_all(), 1, "the second is still counted");
        assert!(!readers.withdraw(second), "woken as well");
        assert_eq!(readers.take_all(), 0);
    }

    #[test]
    fn reading_leaves_nothing_behind() {
        let readers = Readers::new();
        for _ in 0..1000 {
            let place = readers.count();
            assert!(readers.withdraw(place));
        }
        assert_eq!(readers.take_all(), 0);
    }
}
