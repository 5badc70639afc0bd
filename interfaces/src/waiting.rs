//! Waiting: in statics, by semaphores and locks that the portal manager makes once; and for interrupts.

pub use crate::interrupts::waited::Interrupt;

use crate::{LockError, LockProxy, PortalsProxy, SemaphoreProxy};
use cairn::Error;
use core::sync::atomic::{AtomicU32, Ordering};

/// No portal has this index: it leads back to the caller.
const NOT_MADE: u32 = 0;

/// Something that has happened once or more since a thread last waited for it.
pub struct Event(AtomicU32);

impl Default for Event {
    fn default() -> Event {
        Event::new()
    }
}

impl Event {
    /// Before [`Event::make`].
    pub const fn new() -> Event {
        Event(AtomicU32::new(NOT_MADE))
    }

    /// Asks for the semaphore; it has happened so often already.
    pub fn make(&self, portals: &PortalsProxy, times: u64) -> Result<(), Error> {
        self.0.store(portals.semaphore(times)?.first_portal(), Ordering::Release);
        Ok(())
    }

    fn semaphore(&self) -> Result<SemaphoreProxy, Error> {
        made(&self.0).map(SemaphoreProxy::at)
    }

    /// Waits until it happens.
    pub fn wait(&self) -> Result<(), Error> {
        self.semaphore()?.p()
    }

    /// Waits until it happens and `has_come` says that it was what this thread waits for. A signal alone does not say so: it may be
    /// late, for a thread that was called home before it came ([`Event::take`]).
    #[inline(always)]
    pub fn wait_until(&self, has_come: impl Fn() -> bool) -> Result<(), Error> {
        loop {
            self.wait()?;
            if has_come() {
                return Ok(());
            }
        }
    }

    /// Whether it has happened, for a thread that does not wait.
    pub fn has_happened(&self) -> Result<bool, Error> {
        match self.semaphore()?.try_p() {
            Ok(()) => Ok(true),
            Err(Error::WouldBlock) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// It has happened for this thread, which does not wait for it: no other thread is to find that. Where the thread
    /// that signals was stopped before it did, one signal comes late; so there are never more of these than threads.
    pub fn take(&self) {
        let _ = self.semaphore().and_then(|semaphore| semaphore.try_p());
    }

    /// It happens.
    pub fn signal(&self) -> Result<(), Error> {
        self.semaphore()?.v()
    }
}

/// One thread at a time, with the priority of those that wait.
pub struct Turn(AtomicU32);

impl Default for Turn {
    fn default() -> Turn {
        Turn::new()
    }
}

impl Turn {
    /// Before [`Turn::make`].
    pub const fn new() -> Turn {
        Turn(AtomicU32::new(NOT_MADE))
    }

    /// Asks for the lock.
    pub fn make(&self, portals: &PortalsProxy) -> Result<(), Error> {
        self.0.store(portals.lock()?.first_portal(), Ordering::Release);
        Ok(())
    }

    /// Runs `body` when it is this thread's turn.
    pub fn take<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let lock = made(&self.0).map(LockProxy::at)?;
        match lock.lock() {
            // What it guards has to be whole even if its last owner ended in the middle of its turn.
            Ok(()) | Err(LockError::OwnerEnded) => {}
            Err(LockError::Portal(error)) => return Err(error),
        }
        let result = body();
        lock.unlock()?;
        result
    }
}

/// The portal's index; `Busy` until it is made.
fn made(portal: &AtomicU32) -> Result<u32, Error> {
    match portal.load(Ordering::Acquire) {
        NOT_MADE => Err(Error::Busy),
        portal => Ok(portal),
    }
}
