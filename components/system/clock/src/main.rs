//! The clock: time, sleep, periodic timers.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod successor;
mod timers;
mod waiting;

use cairn::environment::startup;
use cairn::sync::Lock;
use cairn::time::counter;
use cairn::{Error, Object, Place};
use cairn_clock::{nanoseconds, ticks};
use cairn_interfaces::{Clock, Portals, Successor, Threads, Timer};
use timers::{Periodic, TIMERS};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "clock",
    imports: { threads: Threads, portals: Portals },
    exports: { clock: Clock = SERVER, successor: Successor = successor::STATE },
    objects: { timer: Timer = TIMERS },
}

/// Around calls of the portal manager: the clock has one stack there, and a thread that waits for that lends
/// its priority to none, but one that waits for this lock does.
static PORTAL_MANAGER: Lock = Lock::new();

/// Ticks that last at least `time` nanoseconds.
fn ticks_of(time: u64) -> u64 {
    ticks(time, startup().time_base)
}

impl Clock for Server {
    fn uptime(&self) -> Result<u64, Error> {
        // The counter begins at zero when the machine starts.
        Ok(nanoseconds(counter(), startup().time_base))
    }

    fn time_base(&self) -> Result<u64, Error> {
        Ok(startup().time_base)
    }

    fn sleep(&self, time: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(counter().saturating_add(ticks_of(time)))
    }

    fn timer(&self, place: Place, period: u64) -> Result<Object<dyn Timer>, Error> {
        if period == 0 {
            return Err(Error::BadArgument);
        }
        let control = TIMERS.open(place.client(), ticks_of(period))?;
        let made = PORTAL_MANAGER.take(|| imports::PORTALS.grant::<dyn Timer>(place, control));
        if made.is_err() {
            TIMERS.end(control)?;
        }
        made
    }
}

impl Timer for Periodic {
    fn wait(&self) -> Result<u64, Error> {
        Periodic::wait(self)
    }

    fn set_period(&self, period: u64) -> Result<(), Error> {
        if period == 0 {
            return Err(Error::BadArgument);
        }
        self.begin(ticks_of(period))
    }

    fn close(&self) -> Result<(), Error> {
        self.end()
    }
}
