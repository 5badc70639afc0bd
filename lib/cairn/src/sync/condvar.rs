//! Waiting for a condition of what a mutex holds.
//!
//! One semaphore for all waiters would not do: a thread that begins to wait behind a notification could take the permit of one
//! that has let the mutex go and does not wait yet. So each has a place with a semaphore of its own, and a variable is the set
//! of its waiters' places.

use super::{MutexGuard, Semaphore};
use crate::Error;
use crate::time::Instant;
// Relaxed: that a place is taken orders nothing; what waiters look at is the mutex's.
use core::sync::atomic::{AtomicU32, Ordering, Ordering::Relaxed};

/// Most threads of a component that wait for its condition variables at a time.
pub const WAITERS_MAXIMUM: usize = 32;

static PLACES: [Semaphore; WAITERS_MAXIMUM] = [const { Semaphore::new(0) }; WAITERS_MAXIMUM];
/// A bit for each place that a thread has.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// A condition of what a [`Mutex`](super::Mutex) holds, for which threads wait. Which of several waiters [`Condvar::notify_one`] wakes is not
/// said; all of [`Condvar::notify_all`] take the mutex by priority. A thread may be woken for nothing.
///
/// ```
/// use cairn::sync::{Condvar, Mutex};
///
/// static LEVEL: Mutex<u32> = Mutex::new(7);
/// static CHANGED: Condvar = Condvar::new();
///
/// let level = CHANGED.wait_while(LEVEL.lock()?, |level| *level < 5)?;
/// # assert_eq!(*level, 7);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Condvar {
    /// A bit for the place of each waiter that was not notified.
    waiting: AtomicU32,
}

impl Condvar {
    /// Nobody waits.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Condvar {
        Condvar { waiting: AtomicU32::new(0) }
    }

    /// Gives the mutex back, waits until it is notified, and takes the mutex. [`Error::Exhausted`]: [`WAITERS_MAXIMUM`]
    /// threads wait already, or as many as `semaphores` allows.
    pub fn wait<'mutex, T>(
        &self,
        guard: MutexGuard<'mutex, T>,
    ) -> Result<MutexGuard<'mutex, T>, Error> {
        self.wait_at(guard, Semaphore::acquire)
    }

    /// The same until `end`; an error, also [`Error::TimedOut`], leaves the mutex to others.
    pub fn wait_before<'mutex, T>(
        &self,
        guard: MutexGuard<'mutex, T>,
        end: Instant,
    ) -> Result<MutexGuard<'mutex, T>, Error> {
        self.wait_at(guard, |place| place.acquire_before(end))
    }

    /// Waits as long as `condition` holds.
    pub fn wait_while<'mutex, T>(
        &self,
        mut guard: MutexGuard<'mutex, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Result<MutexGuard<'mutex, T>, Error> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    fn wait_at<'mutex, T>(
        &self,
        guard: MutexGuard<'mutex, T>,
        wait: impl FnOnce(&Semaphore) -> Result<(), Error>,
    ) -> Result<MutexGuard<'mutex, T>, Error> {
        let free = |taken: u32| taken | taken.wrapping_add(1);
        let before = TAKEN
            .fetch_update(Relaxed, Relaxed, |taken| (taken != u32::MAX).then_some(free(taken)));
        let before = before.map_err(|_| Error::Exhausted)?;
        let bit = before ^ free(before);
        let (mutex, place) = (guard.mutex(), &PLACES[bit.trailing_zeros() as usize]);
        // Before anyone can wake it: a notification that could not be sent would be lost.
        if let Err(error) = place.make() {
            TAKEN.fetch_and(!bit, Relaxed);
            return Err(error);
        }
        self.waiting.fetch_or(bit, Ordering::AcqRel);
        drop(guard);
        let waited = wait(place);
        let was_notified = self.waiting.fetch_and(!bit, Ordering::AcqRel) & bit == 0;
        TAKEN.fetch_and(!bit, Relaxed);
        match waited {
            Ok(()) => mutex.lock(),
            Err(error) => {
                // What came for this thread is for another. The permit wakes the place's next one for nothing.
                if was_notified {
                    let _ = self.notify_one();
                }
                Err(error)
            }
        }
    }

    /// Wakes one thread that waits, if any does.
    pub fn notify_one(&self) -> Result<(), Error> {
        let first = |waiting: u32| waiting & waiting.wrapping_neg();
        let took = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, |waiting| {
            (waiting != 0).then_some(waiting ^ first(waiting))
        });
        took.map_or(Ok(()), |waiting| wake(first(waiting)))
    }

    /// Wakes all threads that wait; the first error, if some could not be woken.
    pub fn notify_all(&self) -> Result<(), Error> {
        let waiting = self.waiting.swap(0, Ordering::AcqRel);
        let bits = (0..u32::BITS).map(|place| 1 << place).filter(|bit| waiting & bit != 0);
        bits.map(wake).fold(Ok(()), Result::and)
    }
}

fn wake(bit: u32) -> Result<(), Error> {
    PLACES[bit.trailing_zeros() as usize].release()
}
