//! Which entries of a domain's portal table are free.

use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_MAXIMUM};

/// The free entries of one table. Zeros, so that those of domains that do not exist take no room in the image.
#[derive(Clone, Copy)]
pub struct Entries([u64; PORTALS_MAXIMUM / 64]);

impl Entries {
    /// All are taken: a domain that does not exist.
    pub const TAKEN: Entries = Entries([0; PORTALS_MAXIMUM / 64]);

    /// Of a table of so many entries only those below the first import are taken.
    pub fn of(size: usize) -> Entries {
        let mut entries = Entries::TAKEN;
        let size = size.min(PORTALS_MAXIMUM);
        entries.release(PORTAL_FIRST_IMPORT, size.saturating_sub(PORTAL_FIRST_IMPORT));
        entries
    }

    /// The first `count` consecutive free entries.
    pub fn find(&self, count: usize) -> Option<usize> {
        let mut start = self.next(PORTAL_FIRST_IMPORT, PORTALS_MAXIMUM, false);
        while start + count <= PORTALS_MAXIMUM {
            let end = self.next(start, start + count, true);
            if end - start >= count {
                return Some(start);
            }
            start = self.next(end, PORTALS_MAXIMUM, false);
        }
        None
    }

    /// The first entry from `at` on that is taken, or free; if there is none below `end`, one from there on.
    fn next(&self, mut at: usize, end: usize, taken: bool) -> usize {
        while at < end {
            let word = if taken { !self.0[at / 64] } else { self.0[at / 64] } >> (at % 64);
            if word != 0 {
                return at + word.trailing_zeros() as usize;
            }
            at = (at | 63) + 1;
        }
        at
    }

    /// Whether all of these entries are free.
    pub fn are_free(&self, first: usize, count: usize) -> bool {
        let end = first.saturating_add(count);
        end <= PORTALS_MAXIMUM && self.next(first, end, true) >= end
    }

    /// Whether an entry is taken.
    #[cfg(test)]
    pub fn is_taken(&self, index: usize) -> bool {
        self.0.get(index / 64).is_none_or(|word| word >> (index % 64) & 1 == 0)
    }

    /// Takes entries.
    pub fn take(&mut self, first: usize, count: usize) {
        for index in first..first + count {
            self.0[index / 64] &= !(1 << (index % 64));
        }
    }

    /// Gives entries back.
    pub fn release(&mut self, first: usize, count: usize) {
        for index in first..first + count {
            self.0[index / 64] |= 1 << (index % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_entries_are_found_up_to_the_last() {
        for size in [512, 1024, PORTALS_MAXIMUM] {
            let mut entries = Entries::of(size);
            assert_eq!(entries.find(4), Some(16));
            entries.take(16, 4);
            entries.take(22, 100);
            assert_eq!((entries.find(2), entries.find(3)), (Some(20), Some(122)));
            entries.take(122, size - 125);
            assert_eq!((entries.find(3), entries.find(4)), (Some(size - 3), None));
            entries.release(64, 64);
            assert_eq!(entries.find(64), Some(64));
            assert!(
                entries.are_free(64, 64) && entries.are_free(20, 2) && entries.are_free(size, 0)
            );
            let taken = [(15, 1), (64, 65), (63, 2), (size, 1), (16, usize::MAX)];
            assert!(taken.iter().all(|(first, count)| !entries.are_free(*first, *count)));
            assert!(entries.is_taken(15) && entries.is_taken(size) && !entries.is_taken(size - 1));
        }
        assert_eq!(Entries::TAKEN.find(1), None);
    }
}
