//! A lock around nothing but what runs while it is held.

use super::machine::RawLock;
use crate::Error;

/// One thread at a time, with at least the priority of those that wait. It keeps no value, as [`Mutex`](super::Mutex) does, and
/// what it guards has to be whole even if a thread ended in the middle of its turn.
///
/// ```
/// use cairn::sync::Lock;
///
/// static TURN: Lock = Lock::new();
///
/// let sum = TURN.take(|| Ok(1 + 1))?;
/// # assert_eq!(sum, 2);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Lock(RawLock);

impl Lock {
    /// A lock that no thread holds.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Lock {
        Lock(RawLock::new())
    }

    /// Runs `body` when it is this thread's turn. [`Error::Busy`]: it is, already.
    pub fn take<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let (held, _) = self.0.lock()?;
        let result = body();
        self.0.unlock(held)?;
        result
    }
}
