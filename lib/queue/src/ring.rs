//! A ring of entries of `WORDS` words, with one producer and one consumer that are hostile to each other.
//!
//! Both indexes run freely, modulo 2^64, and each is written by its own side alone. A side works with its own copy of its
//! index, and believes the other's only if it has moved on and no further than there are entries; else the ring is
//! [`Broken`], for good. An entry is copied once, and what was copied is looked at.
//!
//! The consumer says when it will not look by itself ([`Consumer::sleep`]); [`Producer::publish`] answers whether it has to be
//! called. Each writes its word, then reads the other's, with a fence between: so one of the two sees what the other wrote, and no
//! entry waits for a call that nobody makes.

use cairn::Error;
// Relaxed: words of the section are loaded and stored without an order; the fences here give it.
use core::sync::atomic::{Ordering, fence};

/// Words that both sides read and write at any time.
pub trait Shared {
    /// The word with this number, without an order.
    fn load(&self, word: usize) -> u64;
    /// Writes it, without an order.
    fn store(&self, word: usize, value: u64);
    /// Orders what is before it and what is behind it.
    #[inline(always)]
    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

impl Shared for cairn::section::Section {
    #[inline(always)]
    fn load(&self, word: usize) -> u64 {
        cairn::section::Section::load(self, word * 8)
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64) {
        cairn::section::Section::store(self, word * 8, value);
    }
}

impl<S: Shared> Shared for &S {
    #[inline(always)]
    fn load(&self, word: usize) -> u64 {
        (**self).load(word)
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64) {
        (**self).store(word, value);
    }

    #[inline(always)]
    fn fence(&self, order: Ordering) {
        (**self).fence(order);
    }
}

/// The other side wrote what it cannot have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl From<Broken> for Error {
    fn from(_: Broken) -> Error {
        Error::Malformed
    }
}

/// The words before the entries: how many entries were ever published...
const PUBLISHED: usize = 0;
/// ... how many were ever taken...
const TAKEN: usize = 1;
/// ... and whether the consumer has to be called.
const ASLEEP: usize = 2;
/// A line of a cache: what the entries have does not share it.
const HEADER: usize = 8;

/// Where a ring lies.
#[derive(Clone, Copy, Debug)]
pub struct Place<const WORDS: usize> {
    /// Its first word.
    pub first: usize,
    /// How many entries it has, a power of two.
    pub capacity: u64,
}

impl<const WORDS: usize> Place<WORDS> {
    /// How many words it takes.
    pub const fn words(&self) -> usize {
        HEADER + self.capacity as usize * WORDS
    }

    /// Makes it empty, with a consumer that has to be called. Nobody may use it meanwhile.
    pub fn clear(&self, shared: &impl Shared) {
        shared.store(self.first + PUBLISHED, 0);
        shared.store(self.first + TAKEN, 0);
        shared.store(self.first + ASLEEP, 1);
    }

    #[inline(always)]
    fn entry(&self, index: u64) -> usize {
        self.first + HEADER + (index & (self.capacity - 1)) as usize * WORDS
    }
}

/// The side that puts entries in.
#[derive(Debug)]
pub struct Producer<S, const WORDS: usize> {
    shared: S,
    place: Place<WORDS>,
    /// Entries ever put in, published or not.
    next: u64,
    /// Entries that the consumer has taken, as far as was seen.
    taken: u64,
}

impl<S: Shared, const WORDS: usize> Producer<S, WORDS> {
    /// This side of a ring in which `next` entries were ever published, and all were taken but what is still in it.
    pub fn new(shared: S, place: Place<WORDS>, next: u64) -> Self {
        debug_assert!(place.capacity.is_power_of_two());
        // So many can be there at most; the first look says how many.
        Producer { shared, place, next, taken: next.wrapping_sub(place.capacity) }
    }

    /// Entries that have room now.
    #[inline(always)]
    pub fn space(&mut self) -> Result<u64, Broken> {
        let said = self.shared.load(self.place.first + TAKEN);
        if said.wrapping_sub(self.taken) > self.next.wrapping_sub(self.taken) {
            return Err(Broken);
        }
        // The consumer has read the entries before this side writes over them.
        self.shared.fence(Ordering::Acquire);
        self.taken = said;
        Ok(self.place.capacity - self.next.wrapping_sub(said))
    }

    /// Puts an entry in; whether there was room. The consumer sees it when it is published.
    #[inline(always)]
    pub fn push(&mut self, entry: [u64; WORDS]) -> Result<bool, Broken> {
        let is_full = self.next.wrapping_sub(self.taken) == self.place.capacity;
        if is_full && self.space()? == 0 {
            return Ok(false);
        }
        let at = self.place.entry(self.next);
        for (number, word) in entry.into_iter().enumerate() {
            self.shared.store(at + number, word);
        }
        self.next = self.next.wrapping_add(1);
        Ok(true)
    }

    /// Shows the consumer what was put in; whether it has to be called.
    #[inline(always)]
    pub fn publish(&mut self) -> bool {
        self.show();
        // Against the fence in `sleep`: the index is written before the mark is read.
        self.shared.fence(Ordering::SeqCst);
        self.shared.load(self.place.first + ASLEEP) != 0
    }

    /// Shows what was put in to a consumer that is never called.
    #[inline(always)]
    pub fn show(&mut self) {
        self.shared.fence(Ordering::Release);
        self.shared.store(self.place.first + PUBLISHED, self.next);
    }

    /// Entries ever put in.
    pub fn next(&self) -> u64 {
        self.next
    }
}

/// The side that takes entries out.
#[derive(Debug)]
pub struct Consumer<S, const WORDS: usize> {
    shared: S,
    place: Place<WORDS>,
    /// Entries ever taken.
    next: u64,
    /// Entries ever published, as far as was seen.
    published: u64,
}

impl<S: Shared, const WORDS: usize> Consumer<S, WORDS> {
    /// This side of a ring of which `next` entries were ever taken.
    pub fn new(shared: S, place: Place<WORDS>, next: u64) -> Self {
        debug_assert!(place.capacity.is_power_of_two());
        Consumer { shared, place, next, published: next }
    }

    /// Entries that are there now.
    #[inline(always)]
    pub fn count(&mut self) -> Result<u64, Broken> {
        let said = self.shared.load(self.place.first + PUBLISHED);
        let count = said.wrapping_sub(self.next);
        if count > self.place.capacity || count < self.published.wrapping_sub(self.next) {
            return Err(Broken);
        }
        // The index is read before the entries.
        self.shared.fence(Ordering::Acquire);
        self.published = said;
        Ok(count)
    }

    /// The next entry, copied. The producer has its room back with [`Consumer::give_back`].
    #[inline(always)]
    pub fn pop(&mut self) -> Result<Option<[u64; WORDS]>, Broken> {
        if self.published == self.next && self.count()? == 0 {
            return Ok(None);
        }
        let at = self.place.entry(self.next);
        let entry = core::array::from_fn(|number| self.shared.load(at + number));
        self.next = self.next.wrapping_add(1);
        Ok(Some(entry))
    }

    /// Gives the producer back the room of what was taken.
    #[inline(always)]
    pub fn give_back(&mut self) {
        self.shared.fence(Ordering::Release);
        self.shared.store(self.place.first + TAKEN, self.next);
    }

    /// Says that it has to be called. Whether it may sleep: there is nothing. If there is something, it is awake.
    #[inline(always)]
    pub fn sleep(&mut self) -> Result<bool, Broken> {
        self.shared.store(self.place.first + ASLEEP, 1);
        // Against the fence in `publish`: the mark is written before the index is read.
        self.shared.fence(Ordering::SeqCst);
        let is_empty = self.count()? == 0;
        if !is_empty {
            self.wake();
        }
        Ok(is_empty)
    }

    /// Says that it has to be called, whatever is there.
    pub fn leave(&mut self) {
        self.shared.store(self.place.first + ASLEEP, 1);
        // As in `sleep`: a look behind this finds what a producer did that has not seen the mark.
        self.shared.fence(Ordering::SeqCst);
    }

    /// Says that it looks by itself.
    #[inline(always)]
    pub fn wake(&mut self) {
        self.shared.store(self.place.first + ASLEEP, 0);
    }

    /// Entries ever taken.
    pub fn next(&self) -> u64 {
        self.next
    }
}
