//! Which entries of a domain's portal table are free.

use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_MAXIMUM};

/// The taken entries of one table.
#[derive(Clone, Copy)]
pub struct Entries([u64; PORTALS_MAXIMUM / 64]);

impl Entries {
    /// All are taken: a domain that does not exist.
    pub const TAKEN: Entries = Entries([u64::MAX; PORTALS_MAXIMUM / 64]);

    /// Only those below the first import are taken.
    pub const FREE: Entries = {
        let mut words = [0; PORTALS_MAXIMUM / 64];
        words[0] = (1 << PORTAL_FIRST_IMPORT) - 1;
        Entries(words)
    };

    /// The first `count` consecutive free entries.
    pub fn find(&self, count: usize) -> Option<usize> {
        let mut start = self.next(PORTAL_FIRST_IMPORT, false);
        while start + count <= PORTALS_MAXIMUM {
            let end = self.next(start, true);
            if end - start >= count {
                return Some(start);
            }
            start = self.next(end, false);
        }
        None
    }

    /// The first entry from `at` on that is taken, or free; behind the last one if there is none.
    fn next(&self, mut at: usize, taken: bool) -> usize {
        while at < PORTALS_MAXIMUM {
            let word = if taken { self.0[at / 64] } else { !self.0[at / 64] } >> (at % 64);
            if word != 0 {
                return at + word.trailing_zeros() as usize;
            }
            at = (at | 63) + 1;
        }
        PORTALS_MAXIMUM
    }

    /// Whether an entry is taken.
    #[cfg(test)]
    pub fn is_taken(&self, index: usize) -> bool {
        self.0.get(index / 64).is_none_or(|word| word >> (index % 64) & 1 == 1)
    }

    /// Takes entries.
    pub fn take(&mut self, first: usize, count: usize) {
        for index in first..first + count {
            self.0[index / 64] |= 1 << (index % 64);
        }
    }

    /// Gives entries back.
    pub fn release(&mut self, first: usize, count: usize) {
        for index in first..first + count {
            self.0[index / 64] &= !(1 << (index % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_entries_are_found_up_to_the_last() {
        let mut entries = Entries::FREE;
        assert_eq!(entries.find(4), Some(16));
        entries.take(16, 4);
        entries.take(22, 100);
        assert_eq!((entries.find(2), entries.find(3)), (Some(20), Some(122)));
        entries.take(122, 387);
        assert_eq!((entries.find(3), entries.find(4)), (Some(509), None));
        entries.release(64, 64);
        assert_eq!(entries.find(64), Some(64));
        assert!(entries.is_taken(15) && entries.is_taken(512) && !entries.is_taken(511));
        assert_eq!(Entries::TAKEN.find(1), None);
    }
}
