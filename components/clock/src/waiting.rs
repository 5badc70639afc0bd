//! Threads that wait for timers, each with a semaphore for that time.
//!
//! A semaphore is raised for a thread that waits, once, and never for nobody: whatever a client does, it leaves
//! nothing that others would have to work off. The semaphores are made when the first timer is opened, as many as the
//! description gives the clock. With one for each of its stacks, of which every client has its own, there is
//! always one left; a thread that finds none looks now and then instead.

use crate::{imports, one_at_a_time};
use cairn::Error;
use cairn::abi::thread::THREADS_MAXIMUM;
use cairn_interfaces::SemaphoreProxy;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// No timer has this control word: the place is free.
const NOBODY: u64 = 0;
/// No timer has this one either: the thread is woken, and nobody wakes it again.
const WOKEN: u64 = 1;
/// No portal of a semaphore has this index.
const NOT_MADE: u32 = 0;

/// A place for a thread that waits.
pub struct Place {
    /// The control word of the timer.
    timer: AtomicU64,
    /// First portal of its semaphore.
    semaphore: AtomicU32,
}

static PLACES: [Place; THREADS_MAXIMUM] =
    [const { Place { timer: AtomicU64::new(NOBODY), semaphore: AtomicU32::new(NOT_MADE) } };
        THREADS_MAXIMUM];
/// How many of them have a semaphore: the first ones.
static MADE: AtomicUsize = AtomicUsize::new(0);
static ALL_MADE: AtomicBool = AtomicBool::new(false);

/// Makes the semaphores, once.
pub fn prepare() -> Result<(), Error> {
    if ALL_MADE.load(SeqCst) {
        return Ok(());
    }
    one_at_a_time(|| {
        while !ALL_MADE.load(SeqCst) {
            let number = MADE.load(SeqCst);
            match imports::PORTALS.semaphore(0) {
                Ok(made) if number < PLACES.len() => {
                    PLACES[number].semaphore.store(made.first_portal(), SeqCst);
                    MADE.store(number + 1, SeqCst);
                }
                // As many as there are threads, or as it may have.
                Ok(_) | Err(Error::Exhausted) => ALL_MADE.store(true, SeqCst),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    })
}

/// Wakes all threads that wait for a timer.
pub fn wake(timer: u64) {
    for place in &PLACES[..MADE.load(SeqCst)] {
        if place.timer.compare_exchange(timer, WOKEN, SeqCst, SeqCst).is_ok() {
            // It fails only if the semaphore is gone, and then nobody waits.
            let _ = place.semaphore().v();
        }
    }
}

impl Place {
    /// Takes a place: from here on [`wake`] wakes this thread.
    pub fn take(timer: u64) -> Option<&'static Place> {
        let take =
            |place: &&Place| place.timer.compare_exchange(NOBODY, timer, SeqCst, SeqCst).is_ok();
        PLACES[..MADE.load(SeqCst)].iter().find(take)
    }

    fn semaphore(&self) -> SemaphoreProxy {
        SemaphoreProxy::at(self.semaphore.load(SeqCst))
    }

    /// Waits until the thread is woken, or `end`. It may be woken for nothing.
    pub fn wait(&self, timer: u64, end: u64) -> Result<(), Error> {
        match self.semaphore().p_until(end) {
            Ok(()) => {
                self.timer.store(timer, SeqCst);
                Ok(())
            }
            Err(Error::TimedOut) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The thread waits no more.
    pub fn leave(&self, timer: u64) {
        if self.timer.compare_exchange(timer, NOBODY, SeqCst, SeqCst).is_err() {
            // Woken meanwhile: nobody else is to find that. Where the one that wakes was itself stopped before it
            // raised the semaphore, one wake-up comes late, for whoever is here then; so there are never more of
            // these than threads in the clock.
            let _ = self.semaphore().try_p();
            self.timer.store(NOBODY, SeqCst);
        }
    }
}
