//! A lock around a value, with the priority inheritance of the scheduler's locks.
#![allow(unsafe_code)]

use crate::Error;
use crate::call::{Arguments, Portals};
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A value that one thread at a time uses; who comes second waits in the scheduler, and whoever
/// holds it runs at least with the priority of those who wait.
///
/// The lock is an object of the scheduler, which the portal manager makes at run time: `attach` it
/// once, before the first use.
pub struct Mutex<T> {
    /// First portal of the lock's block; zero: none yet.
    portals: AtomicU32,
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `taken` admits one user at a time, whatever the portals answer.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// Methods of the interface `Lock`, in its order.
const LOCK: u32 = 0;
const UNLOCK: u32 = 1;

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { portals: AtomicU32::new(0), taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Gives it its lock: the first portal of an object of the interface `Lock`. [`Error::Busy`] if
    /// it has one.
    pub fn attach(&self, first_portal: u32) -> Result<(), Error> {
        let attached = self.portals.compare_exchange(0, first_portal, Ordering::Release, Ordering::Relaxed);
        attached.map(drop).map_err(|_| Error::Busy)
    }

    /// Whether it has its lock.
    pub fn is_attached(&self) -> bool {
        self.portals.load(Ordering::Acquire) != 0
    }

    /// Takes the value, or waits for it. [`Error::NotSupported`]: no lock is attached.
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, Error> {
        let first = self.portals.load(Ordering::Acquire);
        if first == 0 {
            return Err(Error::NotSupported);
        }
        let portals = Portals::at(first);
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        portals.call::<3, (), Error>(LOCK, arguments)?;
        if self.taken.swap(true, Ordering::Acquire) {
            // These portals lock nothing, or a holder never gave it back.
            unlock(portals);
            return Err(Error::Busy);
        }
        Ok(MutexGuard { mutex: self, portals })
    }
}

fn unlock(portals: Portals) {
    let mut arguments = Arguments::new();
    arguments.skip();
    // It fails only if the lock is gone, and then nobody waits for it.
    let _ = portals.call::<2, (), Error>(UNLOCK, arguments);
}

/// The value of a [`Mutex`], until this is dropped.
pub struct MutexGuard<'mutex, T> {
    mutex: &'mutex Mutex<T>,
    portals: Portals,
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
        unlock(self.portals);
    }
}
