//! A value that many threads read or one writes.
#![allow(unsafe_code)]

use super::Semaphore;
use super::machine::{Held, RawLock};
use crate::Error;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A thread has the value for writing. The other bits count readers.
const WRITING: u32 = 1 << 31;

/// A value that many threads read at a time, or one writes. Who comes while a thread writes or waits to write waits, by
/// priority, and that thread runs at least with the priority of those. A writer waits for readers, which inherit nothing: read
/// for a short time, or take a [`Mutex`](super::Mutex). A thread that reads does not ask again before it has let go: behind a writer that
/// came between, it would wait for itself.
///
/// ```
/// use cairn::sync::RwLock;
///
/// static LIMITS: RwLock<[u32; 2]> = RwLock::new([10, 90]);
///
/// let limits = LIMITS.read()?;
/// assert_eq!(limits[0] + limits[1], 100);
/// drop(limits);
/// LIMITS.write()?[0] = 20;
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct RwLock<T> {
    /// The writer's, from before it waits for readers; readers take it to come in.
    turn: RawLock,
    users: AtomicU32,
    /// The writer waits for the last reader.
    is_wanted: AtomicBool,
    left: Semaphore,
    value: UnsafeCell<T>,
}

// SAFETY: `users` admits one writer, or readers.
unsafe impl<T: Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock {
            turn: RawLock::new(),
            users: AtomicU32::new(0),
            is_wanted: AtomicBool::new(false),
            left: Semaphore::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// The value for reading. [`Error::Dead`]: a writer ended while it had the value, which is lost for good.
    /// [`Error::Busy`]: this thread writes.
    pub fn read(&self) -> Result<RwLockReadGuard<'_, T>, Error> {
        let (held, _) = self.turn.lock()?;
        let came = self.users.fetch_update(Ordering::Acquire, Ordering::Acquire, |users| {
            (users < WRITING - 1).then_some(users + 1)
        });
        let _ = self.turn.unlock(held);
        came.map(|_| RwLockReadGuard { lock: self }).map_err(|_| Error::Dead)
    }

    /// The value for writing; the same errors. A thread that reads waits for itself.
    pub fn write(&self) -> Result<RwLockWriteGuard<'_, T>, Error> {
        let (held, _) = self.turn.lock()?;
        match self.wait_for_readers() {
            Ok(()) => Ok(RwLockWriteGuard { lock: self, held }),
            Err(error) => {
                let _ = self.turn.unlock(held);
                Err(error)
            }
        }
    }

    fn wait_for_readers(&self) -> Result<(), Error> {
        loop {
            self.is_wanted.store(true, Ordering::SeqCst);
            // A reader that leaves before this sees no one; one that leaves behind it sees the mark.
            let entered =
                self.users.compare_exchange(0, WRITING, Ordering::SeqCst, Ordering::SeqCst);
            let waited = match entered {
                Ok(_) => Ok(()),
                Err(users) if users & WRITING != 0 => Err(Error::Dead),
                // It may wake for nothing, by a permit that came late.
                Err(_) => match self.left.acquire() {
                    Ok(()) => continue,
                    Err(error) => Err(error),
                },
            };
            if !self.is_wanted.swap(false, Ordering::SeqCst) {
                self.left.take_late();
            }
            return waited;
        }
    }
}

/// The value of a [`RwLock`] for reading, until this is dropped.
pub struct RwLockReadGuard<'lock, T> {
    lock: &'lock RwLock<T>,
}

impl<T> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: this guard is counted in `users`, so none is for writing.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        let was_last = self.lock.users.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && self.lock.is_wanted.swap(false, Ordering::SeqCst) {
            let _ = self.lock.left.release();
        }
    }
}

/// The value of a [`RwLock`] for writing, until this is dropped: by the same thread, which has the lock.
pub struct RwLockWriteGuard<'lock, T> {
    lock: &'lock RwLock<T>,
    held: Held,
}

// SAFETY: by a reference to it another thread only reads the value.
unsafe impl<T: Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: `users` was zero and says that this thread writes.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed for writing.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.users.store(0, Ordering::Release);
        let _ = self.lock.turn.unlock(self.held);
    }
}
