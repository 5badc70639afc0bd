//! Pages of the image whose instance is gone, as a list: each says in its first word which the next is. They are taken when no other
//! page is free. Several threads may be at work on it, and none waits for another: what the list begins with changes by comparing, and
//! with a number that no earlier beginning had.

use cairn_abi::address::PAGE_SIZE;
use core::sync::atomic::{
    AtomicI64, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// Bits of the beginning that say which page it is; above is a number that each change raises.
const PAGE_BITS: u32 = 32;

/// The list. Page 0 is none.
pub(crate) struct Returned {
    first: AtomicU64,
    count: AtomicUsize,
}

impl Returned {
    pub(crate) const fn new() -> Returned {
        Returned { first: AtomicU64::new(0), count: AtomicUsize::new(0) }
    }

    /// Pages in it.
    pub(crate) fn available(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Puts a page into it, whose first word is `next`.
    pub(crate) fn give(&self, physical: u64, next: &AtomicI64) {
        let page = physical / PAGE_SIZE;
        let mut first = self.first.load(SeqCst);
        loop {
            next.store((first % (1 << PAGE_BITS)) as i64, SeqCst);
            match self.first.compare_exchange(first, changed(first, page), SeqCst, SeqCst) {
                Ok(_) => break,
                Err(other) => first = other,
            }
        }
        self.count.fetch_add(1, Relaxed);
    }

    /// Takes a page out of it; `word` finds the first word of a page.
    pub(crate) fn take<'a>(&self, word: impl Fn(u64) -> Option<&'a AtomicI64>) -> Option<u64> {
        let mut first = self.first.load(SeqCst);
        loop {
            let physical = first % (1 << PAGE_BITS) * PAGE_SIZE;
            if physical == 0 {
                return None;
            }
            // Another thread may have taken it already, and written there: then the beginning is another.
            let next = word(physical)?.load(SeqCst) as u64 % (1 << PAGE_BITS);
            match self.first.compare_exchange(first, changed(first, next), SeqCst, SeqCst) {
                Ok(_) => {
                    self.count.fetch_sub(1, Relaxed);
                    return Some(physical);
                }
                Err(other) => first = other,
            }
        }
    }
}

fn changed(first: u64, page: u64) -> u64 {
    ((first >> PAGE_BITS) + 1) << PAGE_BITS | page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_taken_once() {
        let memory: Vec<AtomicI64> = (0..8).map(|_| AtomicI64::new(-1)).collect();
        let word = |physical: u64| memory.get((physical / PAGE_SIZE) as usize);
        let returned = Returned::new();
        assert_eq!(returned.take(word), None);
        for round in 0..3 {
            for page in 1..8 {
                returned.give(page * PAGE_SIZE, &memory[page as usize]);
            }
            assert_eq!(returned.available(), 7);
            let mut taken: Vec<u64> = core::iter::from_fn(|| returned.take(word)).collect();
            taken.sort_unstable();
            assert!(
                taken.iter().eq((1..8).map(|page| page * PAGE_SIZE).collect::<Vec<_>>().iter())
            );
            assert_eq!(returned.available(), 0, "{round}");
        }
    }

    #[test]
    fn several_threads_lose_nothing() {
        let memory: Vec<AtomicI64> = (0..65).map(|_| AtomicI64::new(0)).collect();
        let owners: Vec<AtomicI64> = (0..65).map(|_| AtomicI64::new(0)).collect();
        let returned = Returned::new();
        for page in 1..65 {
            returned.give(page * PAGE_SIZE, &memory[page as usize]);
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let word = |physical: u64| memory.get((physical / PAGE_SIZE) as usize);
                        let Some(physical) = returned.take(word) else { continue };
                        let page = (physical / PAGE_SIZE) as usize;
                        assert_eq!(owners[page].fetch_add(1, SeqCst), 0, "it is another's");
                        memory[page].store(0x5ec2e7, SeqCst);
                        owners[page].fetch_sub(1, SeqCst);
                        returned.give(physical, &memory[page]);
                    }
                });
            }
        });
        assert_eq!(returned.available(), 64);
    }
}
