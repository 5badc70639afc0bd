//! Timers: objects, of which each client has a part of its own. A timer counts the periods that have ended; it stores
//! nothing for threads that do not wait.

use crate::waiting::{self, Place};
use crate::{PORTAL_MANAGER, imports};
use cairn::object::ObjectParts;
use cairn::time::{counter, ticks};
use cairn::{Caller, Error};
use cairn_clock::periods;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Timers of a client.
const CLIENT_MAXIMUM: usize = 4;
/// How often a thread looks that has no semaphore, in microseconds.
const LOOK: u64 = 1000;
/// No timer has this period: it has ended.
const CLOSED: u64 = 0;

/// The open timers.
pub struct Timers(ObjectParts<Periodic, CLIENT_MAXIMUM>);

/// The open timers.
pub static TIMERS: Timers = Timers(ObjectParts::new());

/// A timer.
pub struct Periodic {
    period: AtomicU64,
    /// Time at which the current period ends.
    end: AtomicU64,
    /// Its own control word.
    control: u64,
}

/// Which of its lives a client lives now.
fn life(client: Caller) -> Result<u64, Error> {
    PORTAL_MANAGER.take(|| imports::PORTALS.life(client.0))
}

impl Timers {
    /// Runs `body` with the timer that `control` names.
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&Periodic) -> R) -> Result<R, Error> {
        self.0.with(control, body)
    }

    /// Opens a timer with a period in ticks; its control word. The client's timers of former lives end, and its
    /// oldest one if it has as many as it may.
    pub fn open(&self, client: Caller, period: u64) -> Result<u64, Error> {
        waiting::prepare()?;
        let timer = |control| Periodic {
            period: AtomicU64::new(period),
            end: AtomicU64::new(counter().saturating_add(period)),
            control,
        };
        self.0.insert(client, life(client)?, timer, Periodic::ends)
    }

    /// Ends a timer: threads that wait get [`Error::Cancelled`].
    pub fn end(&self, control: u64) -> Result<(), Error> {
        self.0.with(control, Periodic::ends)?;
        // The client may keep its portals; they answer `NotFound`.
        self.0.remove(control)
    }
}

/// For a successor, while nobody is inside.
impl Timers {
    /// Hands each over: control word, what is known of it, period, end of the current period.
    pub fn write(&self, mut write: impl FnMut([u64; 4]) -> Result<(), Error>) -> Result<(), Error> {
        self.0.try_for_each(|control, known, timer| {
            write([control, known, timer.period.load(SeqCst), timer.end.load(SeqCst)])
        })
    }

    /// Takes one over.
    pub fn take(&self, [control, known, period, end]: [u64; 4]) -> Result<(), Error> {
        let (period, end) = (AtomicU64::new(period), AtomicU64::new(end));
        self.0.restore(control, known, Periodic { period, end, control })
    }

    /// The highest generation of one.
    pub fn generation(&self) -> u32 {
        self.0.generation()
    }

    /// What comes next does not have a control word of one of this generation.
    pub fn follow(&self, generation: u32) {
        self.0.follow(generation);
    }
}

impl Periodic {
    fn ends(&self) {
        self.period.store(CLOSED, SeqCst);
        waiting::wake(self.control);
    }

    /// Ends it.
    pub fn end(&self) -> Result<(), Error> {
        TIMERS.end(self.control)
    }

    /// Begins with a new period, in ticks, now.
    pub fn begin(&self, period: u64) -> Result<(), Error> {
        let change = |old| (old != CLOSED).then_some(period);
        self.period.fetch_update(SeqCst, SeqCst, change).map_err(|_| Error::Cancelled)?;
        self.end.store(counter().saturating_add(period), SeqCst);
        waiting::wake(self.control);
        Ok(())
    }

    /// The periods that have ended since they were last taken, if any have.
    fn take_ended(&self) -> Result<Option<u64>, Error> {
        loop {
            let period = self.period.load(SeqCst);
            if period == CLOSED {
                return Err(Error::Cancelled);
            }
            let end = self.end.load(SeqCst);
            let Some((ended, next)) = periods(counter(), end, period) else { return Ok(None) };
            // Another thread of the client may have taken these, or begun anew.
            if self.end.compare_exchange(end, next, SeqCst, SeqCst).is_ok() {
                return Ok(Some(ended));
            }
        }
    }

    /// Waits for the end of the current period; the periods that have ended.
    pub fn wait(&self) -> Result<u64, Error> {
        if let Some(ended) = self.take_ended()? {
            return Ok(ended);
        }
        let control = self.control;
        // A successor has made none yet. Without one the thread looks now and then.
        let _ = waiting::prepare();
        let place = Place::take(control);
        let result = loop {
            // A thread that changed the timer before the place was taken did not wake this one.
            match self.take_ended() {
                Ok(None) => {}
                Ok(Some(ended)) => break Ok(ended),
                Err(error) => break Err(error),
            }
            if waiting::are_called_home() {
                break Err(Error::Moved);
            }
            let end = self.end.load(SeqCst);
            let waited = match place {
                Some(place) => place.wait(control, end),
                None => imports::THREADS.sleep_until(end.min(counter() + ticks(LOOK))),
            };
            if let Err(error) = waited {
                break Err(error);
            }
        };
        if let Some(place) = place {
            place.leave(control);
        }
        result
    }
}
