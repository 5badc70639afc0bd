//! Threads that wait for timers, each with a semaphore for that time.
//!
//! A semaphore is raised for a thread that waits, once, and what is raised for a thread that has gone is taken before
//! the place is used again: whatever a client does, it leaves nothing that others would have to work off. The semaphores are made when the first timer is opened, as many as the
//! description gives the clock. With one for each of its stacks, of which every client has its own, there is
//! always one left; a thread that finds none looks now and then instead.

use crate::{PORTAL_MANAGER, imports};
use cairn::Error;
use cairn::abi::thread::THREADS_MAXIMUM;
use cairn::time::own_thread;
use cairn_interfaces::SemaphoreProxy;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// No timer has this control word: the place is free.
const NOBODY: u64 = 0;
/// No timer has one of these either: the thread is woken, and is not woken again.
const WOKEN: u64 = 1;
/// No thread is here, but the semaphore was raised for one that was.
const OWED: u64 = 2;
/// With a thread's index: that thread is raising the semaphore. Only it says what became of that.
const RINGING: u64 = 0x100;
/// The same, and no thread is here any more.
const ABANDONED: u64 = 0x200;
const _: () = assert!(THREADS_MAXIMUM <= 0x100, "an index leaves the other bits free");
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
    PORTAL_MANAGER.take(|| {
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

/// Threads that wait go to a successor.
static CALLED_HOME: AtomicBool = AtomicBool::new(false);

/// Whether they do.
pub fn are_called_home() -> bool {
    CALLED_HOME.load(SeqCst)
}

/// Says whether they do, and wakes them.
pub fn call_home(called: bool) {
    CALLED_HOME.store(called, SeqCst);
    for place in &PLACES[..MADE.load(SeqCst)] {
        let timer = place.timer.load(SeqCst);
        // Whoever else is there does not wait.
        if called && timer >= ABANDONED << 1 {
            wake(timer);
        }
    }
}

/// Wakes all threads that wait for a timer.
pub fn wake(timer: u64) {
    let (ringing, abandoned) = (RINGING | own_thread(), ABANDONED | own_thread());
    for place in &PLACES[..MADE.load(SeqCst)] {
        if place.timer.compare_exchange(timer, ringing, SeqCst, SeqCst).is_err() {
            continue;
        }
        // A thread as deep in calls as one can be raises nothing. Then a waiting thread does so until the end of the period.
        let raised = place.semaphore().v().is_ok();
        // The thread that was woken may have gone on already, and others be here.
        let _ = place.timer.fetch_update(SeqCst, SeqCst, |word| match word {
            word if word == ringing => Some(if raised { WOKEN } else { timer }),
            word if word == abandoned => Some(if raised { OWED } else { NOBODY }),
            _ => None,
        });
    }
}

impl Place {
    /// Takes a place: from here on [`wake`] wakes this thread.
    pub fn take(timer: u64) -> Option<&'static Place> {
        PLACES[..MADE.load(SeqCst)].iter().find(|place| place.is_taken_for(timer))
    }

    fn is_taken_for(&self, timer: u64) -> bool {
        let take = |from, to| self.timer.compare_exchange(from, to, SeqCst, SeqCst).is_ok();
        take(NOBODY, timer)
            || (take(OWED, WOKEN) && {
                let settled = self.settle();
                self.timer.store(if settled { timer } else { OWED }, SeqCst);
                settled
            })
    }

    /// Takes the wake-up that came for a place; false if it cannot be taken: a thread as deep in calls as one can be
    /// calls no other component.
    fn settle(&self) -> bool {
        self.semaphore().try_p().is_ok()
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

    /// The thread waits no more. A wake-up that came for it must not add up with what comes for the next ones.
    pub fn leave(&self, timer: u64) {
        let left = self.timer.fetch_update(SeqCst, SeqCst, |word| match word {
            WOKEN => None,
            word if word == timer => Some(NOBODY),
            ringing => Some(ringing ^ RINGING ^ ABANDONED),
        });
        if left.is_err() {
            self.timer.store(if self.settle() { NOBODY } else { OWED }, SeqCst);
        }
    }
}
