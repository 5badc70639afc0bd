//! A pool of numbers, of free pages for example: a bit for each, claimed without a lock, because the supervisor's
//! calls must never wait for a preempted thread of less priority.

use core::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// Words of the summary: a pool has at most 64 times as many words of bits.
const GROUPS: usize = 16;

#[cfg(test)]
thread_local! {
    /// Words of bits at which this thread has looked to take numbers.
    pub(crate) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Consecutive numbers of which each is free or taken. Taking one looks at two words and at most [`GROUPS`] more,
/// wherever the free ones are: others leave no holes through which one has to search.
///
/// A pool that nobody has touched has all of its numbers, so none has to be filled before it is used.
pub struct Frames<const WORDS: usize> {
    /// Bit set: taken.
    taken: [AtomicU64; WORDS],
    /// A bit for each of those words: nothing of it is free, perhaps. The bit there is cleared before this one.
    full: [AtomicU64; GROUPS],
    count: AtomicUsize,
    taken_count: AtomicUsize,
}

impl<const WORDS: usize> Frames<WORDS> {
    /// Numbers that one pool can have.
    pub const MAXIMUM: usize = WORDS * 64;

    /// A pool, to be limited before it is used.
    pub const fn new() -> Self {
        assert!(WORDS <= GROUPS * 64, "each word has a bit in the summary");
        Frames {
            taken: [const { AtomicU64::new(0) }; WORDS],
            full: [const { AtomicU64::new(0) }; GROUPS],
            count: AtomicUsize::new(0),
            taken_count: AtomicUsize::new(0),
        }
    }

    /// There are the numbers below `count`, as many as a pool can have. Done once more, it changes nothing, whatever has been
    /// taken and given meanwhile: the others are never given.
    pub fn limit(&self, count: usize) {
        let count = count.min(Self::MAXIMUM);
        if !count.is_multiple_of(64) {
            self.taken[count / 64].fetch_or(u64::MAX << (count % 64), SeqCst);
        }
        let words = count.div_ceil(64);
        for (group, summary) in self.full.iter().enumerate() {
            let there = words.saturating_sub(group * 64).min(64);
            summary.fetch_or(u64::MAX.checked_shl(there as u32).unwrap_or(0), SeqCst);
        }
        self.count.store(count, SeqCst);
    }

    /// Something of a word is free.
    fn note(&self, index: usize) {
        self.full[index / 64].fetch_and(!(1 << (index % 64)), SeqCst);
    }

    /// Nothing of a word was free: says so, unless it is again.
    pub(crate) fn forget(&self, index: usize) {
        self.full[index / 64].fetch_or(1 << (index % 64), SeqCst);
        if self.taken[index].load(SeqCst) != u64::MAX {
            self.note(index);
        }
    }

    /// Takes a free number.
    pub fn take(&self) -> Option<usize> {
        for (group, summary) in self.full.iter().enumerate() {
            loop {
                // Relaxed: a number that another thread gives back in this moment, this one may not find.
                let not_full = !summary.load(Relaxed);
                if not_full == 0 {
                    break;
                }
                let index = group * 64 + not_full.trailing_zeros() as usize;
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
        let word = &self.taken[index];
        loop {
            // Relaxed: if it is not so any more, what is taken says so.
            let free = !word.load(Relaxed);
            if free == 0 {
                return None;
            }
            let bit = free & free.wrapping_neg();
            let before = word.fetch_or(bit, SeqCst);
            if before & bit != 0 {
                continue;
            }
            self.taken_count.fetch_add(1, Relaxed);
            if before | bit == u64::MAX {
                self.forget(index);
            }
            return Some(free.trailing_zeros() as usize);
        }
    }

    /// Gives a number back. One that is not taken changes nothing.
    pub fn give(&self, number: usize) {
        if number >= self.count.load(SeqCst) {
            return;
        }
        let bit = 1 << (number % 64);
        if self.taken[number / 64].fetch_and(!bit, SeqCst) & bit != 0 {
            self.note(number / 64);
            self.taken_count.fetch_sub(1, Relaxed);
        }
    }

    /// Whether a number is free.
    #[cfg(test)]
    pub(crate) fn is_free(&self, number: usize) -> bool {
        self.taken.get(number / 64).is_some_and(|word| word.load(SeqCst) >> (number % 64) & 1 == 0)
    }

    /// Free numbers.
    pub fn available(&self) -> usize {
        self.count().saturating_sub(self.taken_count.load(Relaxed))
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
