//! The pool of free pages: a bit for each, claimed without a lock, because the supervisor's calls
//! must never wait for a preempted thread of less priority.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Consecutive pages of which each is free or taken.
pub struct Frames<const WORDS: usize> {
    /// Bit set: free.
    free: [AtomicU64; WORDS],
    count: AtomicUsize,
    available: AtomicUsize,
    /// Where the next search begins.
    hint: AtomicUsize,
}

impl<const WORDS: usize> Frames<WORDS> {
    /// Pages that one pool can have.
    pub const MAXIMUM: usize = WORDS * 64;

    /// A pool without pages.
    pub const fn new() -> Self {
        Frames {
            free: [const { AtomicU64::new(0) }; WORDS],
            count: AtomicUsize::new(0),
            available: AtomicUsize::new(0),
            hint: AtomicUsize::new(0),
        }
    }

    /// Fills an empty pool with `count` pages, as many as it can have.
    pub fn fill(&self, count: usize) {
        let count = count.min(Self::MAXIMUM);
        for (index, word) in self.free.iter().enumerate() {
            let bits = count.saturating_sub(index * 64).min(64);
            word.store(if bits == 64 { u64::MAX } else { (1 << bits) - 1 }, Relaxed);
        }
        self.count.store(count, Relaxed);
        self.available.store(count, Relaxed);
    }

    /// Takes a free page; its number.
    pub fn take(&self) -> Option<usize> {
        let from = self.hint.load(Relaxed);
        for step in 0..WORDS {
            let index = (from + step) % WORDS;
            let word = &self.free[index];
            let mut bits = word.load(Relaxed);
            while bits != 0 {
                let lowest = bits & bits.wrapping_neg();
                match word.compare_exchange(bits, bits & !lowest, Relaxed, Relaxed) {
                    Ok(_) => {
                        self.hint.store(index, Relaxed);
                        self.available.fetch_sub(1, Relaxed);
                        return Some(index * 64 + lowest.trailing_zeros() as usize);
                    }
                    Err(now) => bits = now,
                }
            }
        }
        None
    }

    /// Gives a page back. A number that is no taken page changes nothing.
    pub fn give(&self, number: usize) {
        if number >= self.count.load(Relaxed) {
            return;
        }
        let bit = 1 << (number % 64);
        if self.free[number / 64].fetch_or(bit, Relaxed) & bit == 0 {
            self.available.fetch_add(1, Relaxed);
        }
    }

    /// Whether a page is free.
    #[cfg(test)]
    pub(crate) fn is_free(&self, number: usize) -> bool {
        self.free.get(number / 64).is_some_and(|word| word.load(Relaxed) >> (number % 64) & 1 != 0)
    }

    /// Free pages.
    pub fn available(&self) -> usize {
        self.available.load(Relaxed)
    }

    /// All pages.
    pub fn count(&self) -> usize {
        self.count.load(Relaxed)
    }
}

impl<const WORDS: usize> Default for Frames<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}
