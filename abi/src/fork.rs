//! What an instance gives to a copy of itself (`domain_fork`).

/// What the copy may have, all of it a part of its parent's, as it is passed: one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Pages of memory, those that are copied among them.
    pub pages: u32,
    /// Threads, its first one among them.
    pub threads: u16,
    /// Semaphores.
    pub semaphores: u16,
    /// Locks.
    pub locks: u16,
    /// Components that it may have in turn, copies of itself among them.
    pub children: u8,
}

/// Bits of a number of threads, of semaphores or of locks.
const COUNT_BITS: u32 = 12;
/// Bits of a number of pages.
const PAGE_BITS: u32 = 20;
/// The most of each.
const COUNT: u64 = (1 << COUNT_BITS) - 1;

impl Quotas {
    /// The word; what does not fit into it is as much as does.
    pub fn word(self) -> u64 {
        let pages = u64::from(self.pages).min((1 << PAGE_BITS) - 1);
        let counts = [self.threads, self.semaphores, self.locks];
        let counts = counts
            .iter()
            .rev()
            .fold(0, |word, count| word << COUNT_BITS | u64::from(*count).min(COUNT));
        u64::from(self.children) << (PAGE_BITS + 3 * COUNT_BITS) | counts << PAGE_BITS | pages
    }

    /// Of a word.
    pub fn of(word: u64) -> Quotas {
        let count = |place: u32| (word >> (PAGE_BITS + place * COUNT_BITS) & COUNT) as u16;
        Quotas {
            pages: (word & ((1 << PAGE_BITS) - 1)) as u32,
            threads: count(0),
            semaphores: count(1),
            locks: count(2),
            children: (word >> (PAGE_BITS + 3 * COUNT_BITS)) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_go_through_a_word() {
        for quotas in [
            Quotas::default(),
            Quotas { pages: 64, threads: 2, semaphores: 3, locks: 4, children: 5 },
            Quotas { pages: 0xf_ffff, threads: 0xfff, semaphores: 1, locks: 0xfff, children: 255 },
        ] {
            assert_eq!(Quotas::of(quotas.word()), quotas);
        }
        let most = Quotas { threads: u16::MAX, pages: u32::MAX, ..Quotas::default() };
        assert_eq!(Quotas::of(most.word()), Quotas { threads: 0xfff, pages: 0xf_ffff, ..most });
    }
}
