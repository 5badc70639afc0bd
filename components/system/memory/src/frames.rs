//! A pool of numbers, of free pages for example: a bit for each, claimed without a lock, because the supervisor's
//! calls must never wait for a preempted thread of less priority.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Words of the summary: a pool has at most 64 times as many words of bits.
const GROUPS: usize = 16;

#[cfg(test)]
thread_local! {
    /// Words of bits at which this thread has looked to take numbers.
    pub(crate) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Consecutive numbers of which each is free or taken. Taking one looks at two words and at most [`GROUPS`] more,
/// wherever the free ones are: others leave no holes through which one has to search.
pub struct Frames<const WORDS: usize> {
    /// Bit set: free.
    free: [AtomicU64; WORDS],
    /// A bit for each of those words: it may be other than zero. The bit there is set before this one.
    groups: [AtomicU64; GROUPS],
    count: AtomicUsize,
    available: AtomicUsize,
}

impl<const WORDS: usize> Frames<WORDS> {
    /// Numbers that one pool can have.
    pub const MAXIMUM: usize = WORDS * 64;

    /// A pool without numbers.
    pub const fn new() -> Self {
        assert!(WORDS <= GROUPS * 64, "each word has a bit in the summary");
        Frames {
            free: [const { AtomicU64::new(0) }; WORDS],
            groups: [const { AtomicU64::new(0) }; GROUPS],
            count: AtomicUsize::new(0),
            available: AtomicUsize::new(0),
        }
    }

    /// Fills an empty pool with the numbers below `count`, as many as it can have.
    pub fn fill(&self, count: usize) {
        let count = count.min(Self::MAXIMUM);
        for (index, word) in self.free.iter().enumerate() {
            let bits = count.saturating_sub(index * 64).min(64);
            word.store(if bits == 64 { u64::MAX } else { (1 << bits) - 1 }, SeqCst);
            self.note(index);
        }
        self.count.store(count, SeqCst);
        self.available.store(count, SeqCst);
    }

    /// A word may be other than zero.
    fn note(&self, index: usize) {
        self.groups[index / 64].fetch_or(1 << (index % 64), SeqCst);
    }

    /// A word was zero: says so, unless it is no more.
    pub(crate) fn forget(&self, index: usize) {
        self.groups[index / 64].fetch_and(!(1 << (index % 64)), SeqCst);
        if self.free[index].load(SeqCst) != 0 {
            self.note(index);
        }
    }

    /// Takes a free number.
    pub fn take(&self) -> Option<usize> {
        for (group, summary) in self.groups.iter().enumerate() {
            loop {
                let words = summary.load(SeqCst);
                if words == 0 {
                    break;
                }
                let index = group * 64 + words.trailing_zeros() as usize;
                #[cfg(test)]
                LOOKS.with(|looks| looks.set(looks.get() + 1));
                if let Some(bit) = self.take_from(index) {
                    return Some(index * 64 + bit);
                }
                // Each turn ends what one preempted thread has left.
                self.forget(index);
            }
        }
        None
    }

    fn take_from(&self, index: usize) -> Option<usize> {
        let word = &self.free[index];
        let without_lowest = |bits: u64| (bits != 0).then(|| bits & (bits - 1));
        let before = word.fetch_update(SeqCst, SeqCst, without_lowest).ok()?;
        self.available.fetch_sub(1, SeqCst);
        if before & (before - 1) == 0 {
            self.forget(index);
        }
        Some(before.trailing_zeros() as usize)
    }

    /// Gives a number back. One that is not taken changes nothing.
    pub fn give(&self, number: usize) {
        if number >= self.count.load(SeqCst) {
            return;
        }
        let bit = 1 << (number % 64);
        if self.free[number / 64].fetch_or(bit, SeqCst) & bit == 0 {
            self.note(number / 64);
            self.available.fetch_add(1, SeqCst);
        }
    }

    /// Whether a number is free.
    #[cfg(test)]
    pub(crate) fn is_free(&self, number: usize) -> bool {
        self.free.get(number / 64).is_some_and(|word| word.load(SeqCst) >> (number % 64) & 1 != 0)
    }

    /// Free numbers.
    pub fn available(&self) -> usize {
        self.available.load(SeqCst)
    }

    /// All numbers.
    pub fn count(&self) -> usize {
        self.count.load(SeqCst)
    }
}

impl<const WORDS: usize> Default for Frames<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}
