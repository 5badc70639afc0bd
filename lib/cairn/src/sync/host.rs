//! The same of `std`, for tests on the host.

extern crate std;

use crate::Error;
use crate::time::{counter, duration};
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{ThreadId, current};

/// A lock.
pub struct RawLock {
    owner: Mutex<Option<ThreadId>>,
    free: Condvar,
}

/// What a thread gives a lock back by: that one alone.
#[derive(Clone, Copy)]
pub struct Held(PhantomData<*const ()>);

impl RawLock {
    pub const fn new() -> RawLock {
        RawLock { owner: Mutex::new(None), free: Condvar::new() }
    }

    /// Takes it. No thread ends while it holds it, as far as this knows.
    pub fn lock(&self) -> Result<(Held, bool), Error> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        let own = current().id();
        while let Some(other) = *owner {
            if other == own {
                return Err(Error::Busy);
            }
            owner = self.free.wait(owner).unwrap_or_else(PoisonError::into_inner);
        }
        *owner = Some(own);
        Ok((Held(PhantomData), false))
    }

    pub fn unlock(&self, _: Held) -> Result<(), Error> {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.free.notify_one();
        Ok(())
    }
}

/// A semaphore.
pub struct RawSemaphore {
    count: Mutex<u32>,
    raised: Condvar,
}

impl RawSemaphore {
    pub const fn new(initial: u32) -> RawSemaphore {
        RawSemaphore { count: Mutex::new(initial), raised: Condvar::new() }
    }

    pub fn make(&self) -> Result<(), Error> {
        Ok(())
    }

    pub fn p(&self) -> Result<(), Error> {
        self.p_until(u64::MAX)
    }

    pub fn v(&self) -> Result<(), Error> {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.raised.notify_one();
        Ok(())
    }

    pub fn try_p(&self) -> Result<(), Error> {
        self.p_until(0).map_err(|_| Error::WouldBlock)
    }

    pub fn p_until(&self, ticks: u64) -> Result<(), Error> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count == 0 {
            let left = ticks.saturating_sub(counter());
            if left == 0 {
                return Err(Error::TimedOut);
            }
            // An hour, and then once more, since no time of the host is further away.
            let left = Duration::from_secs(3600).min(duration(left));
            let waited = self.raised.wait_timeout(count, left);
            count = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *count -= 1;
        Ok(())
    }
}
