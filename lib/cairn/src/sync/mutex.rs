//! A lock around a value, with the priority inheritance of the scheduler's locks.
#![allow(unsafe_code)]

use super::machine::{Held, RawLock};
use crate::Error;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that one thread at a time uses; the second thread waits in the scheduler, and the
/// holder runs at least with the priority of the threads that wait.
///
/// ```
/// use cairn::sync::Mutex;
///
/// static COUNT: Mutex<u64> = Mutex::new(0);
///
/// *COUNT.lock()? += 1;
/// # assert_eq!(*COUNT.lock()?, 1);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Mutex<T> {
    lock: RawLock,
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `taken` admits one user at a time, whatever the lock answers.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { lock: RawLock::new(), taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Takes the value, or waits for it. [`Error::Dead`]: the last holder ended while it had the value, which may be half
    /// changed and is lost for good. [`Error::Busy`]: this thread holds it already. The first call can answer what
    /// [`crate::sync`] says.
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, Error> {
        let (held, owner_ended) = self.lock.lock()?;
        // If it is taken, either an earlier holder never released it, or these are not a lock's portals.
        if owner_ended || self.taken.swap(true, Ordering::Acquire) {
            // It fails only if the lock is gone, and then no thread waits for it.
            let _ = self.lock.unlock(held);
            return Err(Error::Dead);
        }
        Ok(MutexGuard { mutex: self, held })
    }
}

/// The value of a [`Mutex`], until this is dropped: by the same thread, which has the lock.
///
/// ```compile_fail,E0277
/// use cairn::sync::Mutex;
///
/// static COUNT: Mutex<u64> = Mutex::new(0);
///
/// fn send(_: impl Send) {}
/// send(COUNT.lock().unwrap());
/// ```
pub struct MutexGuard<'mutex, T> {
    mutex: &'mutex Mutex<T>,
    held: Held,
}

// SAFETY: by a reference to it another thread only reads the value.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<'mutex, T> MutexGuard<'mutex, T> {
    /// Its mutex.
    pub(super) fn mutex(&self) -> &'mutex Mutex<T> {
        self.mutex
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard exists once, since `taken` was not set before.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed for writing.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.taken.store(false, Ordering::Release);
        let _ = self.mutex.lock.unlock(self.held);
    }
}
