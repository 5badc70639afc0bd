//! Something that has happened.

use super::Semaphore;
use crate::Error;
use crate::time::Instant;
use core::sync::atomic::{AtomicBool, Ordering};

/// Something has happened since a thread last waited for it, once or more often: signals do not add up, as the permits of a
/// [`Semaphore`] do. One thread waits.
///
/// ```
/// use cairn::sync::Signal;
///
/// static CHANGED: Signal = Signal::new();
///
/// CHANGED.signal()?;
/// CHANGED.signal()?;
/// CHANGED.wait()?;
/// assert!(!CHANGED.try_wait()?);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Signal {
    /// The permit is given, or about to be.
    is_raised: AtomicBool,
    semaphore: Semaphore,
}

impl Signal {
    /// It has not happened.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Signal {
        Signal { is_raised: AtomicBool::new(false), semaphore: Semaphore::new(0) }
    }

    /// It happens.
    pub fn signal(&self) -> Result<(), Error> {
        if self.is_raised.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.semaphore.release().inspect_err(|_| self.is_raised.store(false, Ordering::Release))
    }

    /// Waits until it happens. What was done before a signal is seen behind this.
    pub fn wait(&self) -> Result<(), Error> {
        self.semaphore.acquire()?;
        self.lower();
        Ok(())
    }

    /// The same until `end`: [`Error::TimedOut`].
    pub fn wait_before(&self, end: Instant) -> Result<(), Error> {
        self.semaphore.acquire_before(end)?;
        self.lower();
        Ok(())
    }

    /// Whether it has happened, for a thread that does not wait.
    pub fn try_wait(&self) -> Result<bool, Error> {
        let has_happened = self.semaphore.try_acquire()?;
        if has_happened {
            self.lower();
        }
        Ok(has_happened)
    }

    /// A signal that finds the mark gives no permit: its work is seen by whoever has lowered the mark, and looks then.
    fn lower(&self) {
        self.is_raised.swap(false, Ordering::AcqRel);
    }
}
