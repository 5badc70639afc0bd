//! Timers: a table of objects, each with a semaphore that wakes those who wait.

use crate::{imports, one_at_a_time};
use cairn::time::counter;
use cairn::{Caller, Error, object::ObjectTable};
use cairn_clock::periods;
use cairn_interfaces::SemaphoreProxy;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Timers of all clients.
const TIMERS_MAXIMUM: usize = 64;
/// Timers of a client.
const CLIENT_MAXIMUM: usize = 8;
/// No portal of a semaphore has this index.
const NONE: u32 = 0;

/// The open timers.
pub struct Timers {
    open: ObjectTable<Periodic, TIMERS_MAXIMUM>,
    /// Semaphores that no timer uses (their first portals).
    spare: [AtomicU32; TIMERS_MAXIMUM],
    opened: AtomicU64,
}

/// The open timers.
pub static TIMERS: Timers = Timers {
    open: ObjectTable::new(),
    spare: [const { AtomicU32::new(NONE) }; TIMERS_MAXIMUM],
    opened: AtomicU64::new(0),
};

/// A timer.
pub struct Periodic {
    client: u32,
    /// Which of the client's lives opened it.
    life: u64,
    /// Timers opened before it.
    age: u64,
    period: AtomicU64,
    /// Time at which the current period ends.
    end: AtomicU64,
    closed: AtomicBool,
    semaphore: u32,
    /// Its own control word, once it is in the table.
    control: AtomicU64,
}

/// Which of its lives a client lives now.
fn life(client: u32) -> Result<u64, Error> {
    one_at_a_time(|| imports::PORTALS.life(client.into()))
}

impl Timers {
    /// Runs `body` with the timer that `control` names.
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&Periodic) -> R) -> Result<R, Error> {
        self.open.with(control, body)
    }

    /// Opens a timer with a period in ticks; its control word.
    pub fn open(&self, client: Caller, period: u64) -> Result<u64, Error> {
        let life = life(client.0)?;
        self.make_room(client.0, life);
        self.try_open(client.0, life, period).or_else(|error| match error {
            Error::Exhausted => {
                self.end_those_of_the_dead();
                self.try_open(client.0, life, period)
            }
            error => Err(error),
        })
    }

    fn try_open(&self, client: u32, life: u64, period: u64) -> Result<u64, Error> {
        let semaphore = self.take_semaphore()?;
        let timer = Periodic {
            client,
            life,
            age: self.opened.fetch_add(1, Ordering::Relaxed),
            period: AtomicU64::new(period),
            end: AtomicU64::new(counter().saturating_add(period)),
            closed: AtomicBool::new(false),
            semaphore,
            control: AtomicU64::new(0),
        };
        let control = self.open.insert(timer)?;
        self.open.with(control, |timer| timer.control.store(control, Ordering::Relaxed))?;
        Ok(control)
    }

    /// Ends a timer: those who wait get [`Error::Cancelled`].
    pub fn end(&self, control: u64) -> Result<(), Error> {
        self.open.with(control, |timer| {
            timer.closed.store(true, Ordering::Release);
            timer.wake()
        })??;
        self.open.remove(control)?;
        // The client may keep its portals; they answer `NotFound`.
        Ok(())
    }

    /// Ends the oldest timer of a client that has as many as it may, and all of its former lives.
    fn make_room(&self, client: u32, life: u64) {
        let (mut count, mut oldest) = (0, None);
        self.open.for_each(|control, timer| {
            if timer.client != client {
                return;
            }
            if timer.life != life {
                let _ = self.end(control);
                return;
            }
            count += 1;
            oldest = oldest.min(Some((timer.age, control))).or(Some((timer.age, control)));
        });
        if let Some((_, control)) = oldest.filter(|_| count >= CLIENT_MAXIMUM) {
            // Another call may have ended it meanwhile.
            let _ = self.end(control);
        }
    }

    /// Nobody tells when a client dies, so this looks when room is needed.
    fn end_those_of_the_dead(&self) {
        self.open.for_each(|control, timer| {
            let has_ended = || Ok(imports::PORTALS.has_ended(timer.client, timer.life));
            if one_at_a_time(has_ended) == Ok(true) {
                // Another call may have ended it meanwhile.
                let _ = self.end(control);
            }
        });
    }

    /// A spare semaphore, or a new one.
    fn take_semaphore(&self) -> Result<u32, Error> {
        for place in &self.spare {
            let semaphore = place.swap(NONE, Ordering::AcqRel);
            if semaphore != NONE {
                return Ok(semaphore);
            }
        }
        Ok(one_at_a_time(|| imports::PORTALS.semaphore(0))?.first_portal())
    }
}

impl Periodic {
    fn wake(&self) -> Result<(), Error> {
        SemaphoreProxy::at(self.semaphore).v()
    }

    /// Ends it.
    pub fn end(&self) -> Result<(), Error> {
        TIMERS.end(self.control.load(Ordering::Relaxed))
    }

    /// Begins with a new period, in ticks, now.
    pub fn begin(&self, period: u64) -> Result<(), Error> {
        self.period.store(period, Ordering::Relaxed);
        self.end.store(counter().saturating_add(period), Ordering::Release);
        self.wake()
    }

    /// Waits for the end of the current period; the periods that have ended.
    pub fn wait(&self) -> Result<u64, Error> {
        loop {
            if self.closed.load(Ordering::Acquire) {
                // Whoever else waits is woken in turn.
                self.wake()?;
                return Err(Error::Cancelled);
            }
            let end = self.end.load(Ordering::Acquire);
            let Some((ended, next)) = periods(counter(), end, self.period.load(Ordering::Relaxed))
            else {
                match SemaphoreProxy::at(self.semaphore).p_until(end) {
                    // Woken: the period has changed, or the timer ends.
                    Ok(()) | Err(Error::TimedOut) => continue,
                    Err(error) => return Err(error),
                }
            };
            // Another waiter may have taken these periods.
            if self.end.compare_exchange(end, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Ok(ended);
            }
        }
    }
}

impl Drop for Periodic {
    /// Nobody is inside any more: the semaphore is spare.
    fn drop(&mut self) {
        let semaphore = SemaphoreProxy::at(self.semaphore);
        // It may have been raised for nobody. The number of wake-ups is that of calls, so this ends.
        while semaphore.try_p().is_ok() {}
        for place in &TIMERS.spare {
            if place
                .compare_exchange(NONE, self.semaphore, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
            {
                return;
            }
        }
    }
}
