//! A value that is made at its first use, by whoever comes, and that nobody waits for.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, Ordering};

/// There is no value, one is being stored, it stays.
const EMPTY: u8 = 0;
const STORING: u8 = 1;
const STORED: u8 = 2;

/// A value that whoever needs it can make, each an equal one: what the description and the layout say does not change. Threads that come
/// while there is none make their own, where those of [`Once`](crate::sync::Once) would wait for another one's.
pub struct Cached<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by the one thread that passes from EMPTY to STORING, and read behind STORED.
unsafe impl<T: Send + Sync> Sync for Cached<T> {}

impl<T> Cached<T> {
    /// No value yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Cached<T> {
        Cached { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }

    /// Runs `body` with the value, or with one that `make` makes, which is kept. `None`: it could make none.
    #[inline(always)]
    pub fn with<R>(
        &self,
        make: impl FnOnce() -> Option<T>,
        body: impl FnOnce(&T) -> R,
    ) -> Option<R> {
        let mut own = None;
        let value = match self.get() {
            Some(value) => value,
            None => self.make(make, &mut own)?,
        };
        Some(body(value))
    }

    #[inline(always)]
    fn get(&self) -> Option<&T> {
        match self.state.load(Ordering::Acquire) {
            // SAFETY: nobody writes it any more.
            STORED => unsafe { &*self.value.get() }.as_ref(),
            _ => None,
        }
    }

    #[cold]
    fn make<'a>(
        &'a self,
        make: impl FnOnce() -> Option<T>,
        own: &'a mut Option<T>,
    ) -> Option<&'a T> {
        let value = make()?;
        match self.state.compare_exchange(EMPTY, STORING, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                // SAFETY: the exchange made this the only user.
                unsafe { *self.value.get() = Some(value) };
                self.state.store(STORED, Ordering::Release);
                self.get()
            }
            Err(_) => Some(own.insert(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_until_there_is_one() {
        let cached = Cached::new();
        assert_eq!(cached.with(|| None, |value: &u64| *value), None);
        assert_eq!(cached.with(|| Some(1), |value| *value), Some(1));
        assert_eq!(cached.with(|| unreachable!(), |value| *value), Some(1));
    }

    #[test]
    fn nobody_waits_for_who_makes_it() {
        let cached = Cached::new();
        let inner = || cached.with(|| Some(1), |value| *value);
        assert_eq!(cached.with(inner, |value| *value), Some(1));
        cached.state.store(STORING, Ordering::Release);
        assert_eq!(cached.with(|| Some(2), |value| *value), Some(2), "another is storing");
    }
}
