//! The server's side of objects: a fixed table of states, each named by a control word.
//!
//! A control word is the slot and the slot's generation, which is raised whenever an object ends.
//! So the word of an object that has ended is refused, even when the slot is used again. An object
//! that is closed while calls are inside it ends when the last of them leaves.
#![allow(unsafe_code)]

use crate::Error;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
// Relaxed: a word read without order, or by an exchange that failed, is used for the next exchange alone.
use core::sync::atomic::{AtomicU64, Ordering};

/// A table of `N` objects with the state `T`, for a `static`.
pub struct ObjectTable<T, const N: usize> {
    slots: [Slot<T>; N],
}

struct Slot<T> {
    /// Generation (upper half), [`LIVE`] or [`TAKEN`], number of calls inside.
    word: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The object can be called.
const LIVE: u64 = 1 << 31;
/// The object is being made or ends: the slot is not free, no thread may enter.
const TAKEN: u64 = 1 << 30;
/// The bits that count the calls inside.
const INSIDE: u64 = TAKEN - 1;
const GENERATION_SHIFT: u32 = 32;
/// A control word's generation is one above the slot's, so that zero never names an object although an empty table
/// is zero: a large one takes no room in the image.
const FIRST: u64 = 1 << GENERATION_SHIFT;

/// The control word of the object that a slot holds.
fn control(index: usize, word: u64) -> u64 {
    index as u64 | (word & !(FIRST - 1)).wrapping_add(FIRST)
}

/// Whether a slot's word is that of the object with this control word.
fn names(control: u64, word: u64) -> bool {
    (word >> GENERATION_SHIFT) as u32 == ((control >> GENERATION_SHIFT) as u32).wrapping_sub(1)
}

// SAFETY: a value is written by the one thread that took its slot and dropped by the one that ends
// it; in between all threads have only `&T` (`T: Sync`), and it may end on another thread than the
// one that made it (`T: Send`).
unsafe impl<T: Send + Sync, const N: usize> Sync for ObjectTable<T, N> {}

impl<T, const N: usize> ObjectTable<T, N> {
    /// An empty table.
    pub const fn new() -> Self {
        ObjectTable {
            slots: [const {
                Slot { word: AtomicU64::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
            }; N],
        }
    }

    /// Puts an object into the table and returns its control word; [`Error::Exhausted`] if the
    /// table is full.
    pub fn insert(&self, value: T) -> Result<u64, Error> {
        self.insert_with(|_| value)
    }

    /// The same, for an object that knows its control word from its beginning on.
    pub fn insert_with(&self, value: impl FnOnce(u64) -> T) -> Result<u64, Error> {
        for (index, slot) in self.slots.iter().enumerate() {
            let word = slot.word.load(Ordering::Relaxed);
            if word & (LIVE | TAKEN) != 0 {
                continue;
            }
            let taken = word | TAKEN;
            if slot
                .word
                .compare_exchange(word, taken, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
            {
                continue;
            }
            let control = control(index, word);
            let value = value(control);
            // SAFETY: the slot was free and this thread alone took it, so no other thread touches the
            // value, and there is none to drop.
            unsafe { (*slot.value.get()).write(value) };
            slot.word.store(word | LIVE, Ordering::Release);
            return Ok(control);
        }
        Err(Error::Exhausted)
    }

    /// Puts an object into the table that had this control word in the table of a predecessor (live replacement), in a table that
    /// nobody calls yet. [`Error::Busy`]: there is one in its place.
    pub fn restore(&self, control: u64, value: T) -> Result<(), Error> {
        let slot = self.slot(control)?;
        let generation = (control & !(FIRST - 1)).checked_sub(FIRST).ok_or(Error::NotFound)?;
        slot.update(|word| (word & (LIVE | TAKEN) == 0).then_some(generation | TAKEN))
            .map_err(|_| Error::Busy)?;
        // SAFETY: as in `insert_with`.
        unsafe { (*slot.value.get()).write(value) };
        slot.word.store(generation | LIVE, Ordering::Release);
        Ok(())
    }

    /// The highest generation that a slot has, for [`ObjectTable::follow`].
    pub fn generation(&self) -> u32 {
        let words = self.slots.iter().map(|slot| slot.word.load(Ordering::Relaxed));
        words.map(|word| (word >> GENERATION_SHIFT) as u32).max().unwrap_or(0)
    }

    /// Gives no control word any more that a predecessor of this [`generation`](ObjectTable::generation) gave: an object that ended there is not
    /// another one here. Behind the last [`ObjectTable::restore`].
    pub fn follow(&self, generation: u32) {
        let generation = u64::from(generation) << GENERATION_SHIFT;
        for slot in &self.slots {
            let _ = slot.update(|word| {
                (word & (LIVE | TAKEN) == 0 && word < generation).then_some(generation)
            });
        }
    }

    /// Runs `body` with the object that `control` names; [`Error::NotFound`] if it has ended.
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&T) -> R) -> Result<R, Error> {
        let slot = self.slot(control)?;
        slot.update(|word| {
            (word & LIVE != 0 && names(control, word) && word & INSIDE != INSIDE)
                .then_some(word + 1)
        })?;
        // Leaves even if the body unwinds, on the host.
        let _leave = Leave(slot);
        // SAFETY: the object is live, and while this call is counted it does not end.
        Ok(body(unsafe { (*slot.value.get()).assume_init_ref() }))
    }

    /// Closes the object that `control` names: no thread enters it any more, and it is dropped when
    /// the last call inside it has left.
    pub fn remove(&self, control: u64) -> Result<(), Error> {
        let slot = self.slot(control)?;
        let word = slot.update(|word| {
            (word & LIVE != 0 && names(control, word)).then_some((word & !LIVE) | TAKEN)
        })?;
        if word & INSIDE == 0 {
            slot.end(word);
        }
        Ok(())
    }

    /// Runs `body` with every object, and its control word.
    pub fn for_each(&self, mut body: impl FnMut(u64, &T)) {
        for (index, slot) in self.slots.iter().enumerate() {
            let word = slot.word.load(Ordering::Relaxed);
            if word & LIVE == 0 {
                continue;
            }
            let control = control(index, word);
            // An object that ended meanwhile is not among them.
            let _ = self.with(control, |value| body(control, value));
        }
    }

    fn slot(&self, control: u64) -> Result<&Slot<T>, Error> {
        self.slots.get((control & (FIRST - 1)) as usize).ok_or(Error::NotFound)
    }
}

impl<T, const N: usize> Default for ObjectTable<T, N> {
    fn default() -> Self {
        ObjectTable::new()
    }
}

impl<T, const N: usize> Drop for ObjectTable<T, N> {
    fn drop(&mut self) {
        for slot in &mut self.slots {
            if *slot.word.get_mut() & LIVE != 0 {
                // SAFETY: a live slot holds a value, and `&mut self` means that no thread is inside.
                unsafe { slot.value.get_mut().assume_init_drop() };
            }
        }
    }
}

impl<T> Slot<T> {
    /// Replaces the word by what `next` makes of it, and returns that; `next` refuses a word that
    /// is not the object's.
    fn update(&self, next: impl Fn(u64) -> Option<u64>) -> Result<u64, Error> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let wanted = next(word).ok_or(Error::NotFound)?;
            match self.word.compare_exchange_weak(word, wanted, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return Ok(wanted),
                Err(found) => word = found,
            }
        }
    }

    /// Ends the object; called once, by the thread that made the word "taken, no thread inside".
    fn end(&self, word: u64) {
        // SAFETY: no thread is inside, and none enters a slot that is not live.
        unsafe { (*self.value.get()).assume_init_drop() };
        self.word.store((word & !(FIRST - 1)).wrapping_add(FIRST), Ordering::Release);
    }
}

struct Leave<'table, T>(&'table Slot<T>);

impl<T> Drop for Leave<'_, T> {
    fn drop(&mut self) {
        let word = self.0.word.fetch_sub(1, Ordering::AcqRel) - 1;
        if word & (LIVE | INSIDE) == 0 {
            self.0.end(word);
        }
    }
}
