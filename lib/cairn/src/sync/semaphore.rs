//! A number of permits.

use super::machine::RawSemaphore;
use crate::Error;
use crate::time::Instant;

/// Permits, or events that have happened: a thread takes one, or waits for it. Threads that wait get them by priority.
///
/// ```
/// use cairn::sync::Semaphore;
///
/// static FREE: Semaphore = Semaphore::new(2);
///
/// FREE.acquire()?;
/// FREE.acquire()?;
/// assert!(!FREE.try_acquire()?);
/// FREE.release()?;
/// assert!(FREE.try_acquire()?);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Semaphore(RawSemaphore);

impl Semaphore {
    /// So many permits.
    pub const fn new(permits: u32) -> Semaphore {
        Semaphore(RawSemaphore::new(permits))
    }

    /// Has it made, which its first use does otherwise.
    pub(super) fn make(&self) -> Result<(), Error> {
        self.0.make()
    }

    /// Takes one, or waits for it.
    #[inline(always)]
    pub fn acquire(&self) -> Result<(), Error> {
        self.0.p()
    }

    /// Takes one, again and again, until `has_come` says that it was what this thread waits for. A permit alone does not say
    /// so: it may be late, for a thread that was called home before it came ([`Semaphore::take_late`]).
    #[inline(always)]
    pub fn acquire_until(&self, has_come: impl Fn() -> bool) -> Result<(), Error> {
        loop {
            self.acquire()?;
            if has_come() {
                return Ok(());
            }
        }
    }

    /// Takes one, or waits for it until `end`: [`Error::TimedOut`].
    pub fn acquire_before(&self, end: Instant) -> Result<(), Error> {
        self.0.p_until(end.ticks())
    }

    /// Takes one, if there is one.
    pub fn try_acquire(&self) -> Result<bool, Error> {
        match self.0.try_p() {
            Ok(()) => Ok(true),
            Err(Error::WouldBlock) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes the one that was meant for this thread, which does not wait for it: no other thread is to find that. Where the
    /// thread that gives it was stopped before it did, one comes late; so there are never more of these than threads.
    pub fn take_late(&self) {
        let _ = self.try_acquire();
    }

    /// Gives one.
    #[inline(always)]
    pub fn release(&self) -> Result<(), Error> {
        self.0.v()
    }
}
