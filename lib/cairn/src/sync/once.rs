//! A value that is made once.
#![allow(unsafe_code)]

use super::Lock;
use crate::Error;
use core::cell::UnsafeCell;
// Relaxed: only whoever has the lock makes the value.
use core::sync::atomic::{AtomicU8, Ordering, Ordering::Relaxed};

/// There is no value...
const EMPTY: u8 = 0;
/// ... one thread makes it...
const MAKING: u8 = 1;
/// ... and it stays.
const MADE: u8 = 2;

/// A value that the first thread which wants it makes; others wait for it meanwhile.
///
/// ```
/// use cairn::sync::Once;
///
/// static TABLE: Once<[u8; 4]> = Once::new();
///
/// assert_eq!(TABLE.get(), None);
/// let table = TABLE.get_or_init(|| Ok([1, 2, 3, 4]))?;
/// assert_eq!(TABLE.get_or_init(|| unreachable!())?, table);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Once<T> {
    state: AtomicU8,
    lock: Lock,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by the one thread that passes from EMPTY to MAKING, and read behind MADE.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

impl<T> Once<T> {
    /// No value yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Once<T> {
        Once { state: AtomicU8::new(EMPTY), lock: Lock::new(), value: UnsafeCell::new(None) }
    }

    /// The value, if there is one.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        match self.state.load(Ordering::Acquire) {
            // SAFETY: nobody writes it any more.
            MADE => unsafe { &*self.value.get() }.as_ref(),
            _ => None,
        }
    }

    /// The value; `make` makes it, if nobody has. If that is an error, the next one tries. [`Error::Dead`]: a thread ended
    /// while it made the value. [`Error::Busy`]: `make` asks for the value itself.
    pub fn get_or_init(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
        if self.get().is_none() {
            self.lock.take(|| self.make(make))?;
        }
        self.get().ok_or(Error::Dead)
    }

    fn make(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<(), Error> {
        match self.state.compare_exchange(EMPTY, MAKING, Ordering::Acquire, Ordering::Acquire) {
            Err(MADE) => return Ok(()),
            Err(_) => return Err(Error::Dead),
            Ok(_) => {}
        }
        match make() {
            Ok(value) => {
                // SAFETY: the exchange made this the only user.
                unsafe { *self.value.get() = Some(value) };
                self.state.store(MADE, Ordering::Release);
                Ok(())
            }
            Err(error) => {
                self.state.store(EMPTY, Relaxed);
                Err(error)
            }
        }
    }
}
