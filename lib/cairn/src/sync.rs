//! A lock around a value, with the priority inheritance of the scheduler's locks.
#![allow(unsafe_code)]

use crate::Error;
use crate::call::{Arguments, Portals};
use crate::wire::MethodError;
use cairn_abi::interface_text::TypeText;
use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
// Relaxed: an exchange that fails uses nothing of what it read.
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A value that one thread at a time uses; the second thread waits in the scheduler, and the
/// holder runs at least with the priority of the threads that wait.
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

/// What `lock` of that interface answers beside zero.
#[derive(Debug, PartialEq, Eq)]
struct Status(i64);

/// The lock is taken, but its last owner ended while it held it.
const OWNER_ENDED: Status = Status(1);

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        Status(error.status())
    }
}

impl MethodError for Status {
    const SHAPE: u64 = 0;
    const TEXT: TypeText = TypeText::Plain("Status");
    fn into_status(self) -> i64 {
        self.0
    }
    fn from_status(status: i64) -> Status {
        Status(status)
    }
}

/// Methods of the interface `Lock`, in its order.
const LOCK: u32 = 0;
const UNLOCK: u32 = 1;

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            portals: AtomicU32::new(0),
            taken: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Gives it its lock: the first portal of an object of the interface `Lock`. [`Error::Busy`] if
    /// it has one.
    pub fn attach(&self, first_portal: u32) -> Result<(), Error> {
        let attached =
            self.portals.compare_exchange(0, first_portal, Ordering::Release, Ordering::Relaxed);
        attached.map(drop).map_err(|_| Error::Busy)
    }

    /// Whether it has its lock.
    pub fn is_attached(&self) -> bool {
        self.portals.load(Ordering::Acquire) != 0
    }

    /// Takes the value, or waits for it. [`Error::NotSupported`]: no lock is attached.
    /// [`Error::Dead`]: the last holder ended while it had the value, which may be half changed and is
    /// lost for good. [`Error::Busy`]: this thread holds it already.
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, Error> {
        let first = self.portals.load(Ordering::Acquire);
        if first == 0 {
            return Err(Error::NotSupported);
        }
        let portals = Portals::at(first);
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        match portals.call::<3, (), Status>(LOCK, arguments) {
            Ok(()) => {}
            Err(OWNER_ENDED) => {
                unlock(portals);
                return Err(Error::Dead);
            }
            Err(Status(status)) => return Err(Error::from_status(status)),
        }
        if self.taken.swap(true, Ordering::Acquire) {
            // Either an earlier holder never released it, or these are not a lock's portals.
            unlock(portals);
            return Err(Error::Dead);
        }
        Ok(MutexGuard { mutex: self, portals })
    }
}

fn unlock(portals: Portals) {
    let mut arguments = Arguments::new();
    arguments.skip();
    // It fails only if the lock is gone, and then no thread waits for it.
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
