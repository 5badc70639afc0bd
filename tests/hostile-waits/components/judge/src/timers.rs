//! Timers: their ends, changes of their periods while somebody waits, more of them than a client may have.

use crate::harness::{Judge, pause, wait_until};
use crate::imports::{CLOCK, PORTALS, SCHEDULING, SUPERVISOR, THREADS};
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, Object};
use cairn_interfaces::{Thread, Timer, TimerProxy, spawn};
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

const MILLISECOND: u64 = 1_000_000;
const FOR_EVER: u64 = 10_000_000_000_000_000_000;
/// Timers of a client.
const TIMERS: usize = 4;

type Opened = Result<Object<dyn Timer>, Error>;

fn open(period: u64) -> Opened {
    CLOCK.timer(PORTALS, period)
}

/// Its portals go, whatever became of it.
fn close_portals(judge: &mut Judge, name: &str, timer: Opened) {
    let closed = timer.and_then(|timer| PORTALS.close(timer.first_portal().into()));
    judge.expect(name, closed, Ok(()));
}

/// Whether a wait ended well, and not earlier than it may.
fn lasted(timer: TimerProxy, milliseconds: u64) -> bool {
    let begin = now();
    let periods = timer.wait();
    periods.is_ok_and(|periods| periods > 0) && now() - begin >= ticks(milliseconds * 1000)
}

static STACK: Stack<8192> = Stack::new();
static RESULT: AtomicI64 = AtomicI64::new(0);
static PORTAL: AtomicU32 = AtomicU32::new(0);

/// Another thread waits for the timer.
fn wait_for(timer: TimerProxy) -> Result<Thread, Error> {
    PORTAL.store(timer.first_portal(), Relaxed);
    let wait = |_| {
        let result = TimerProxy::at(PORTAL.load(Relaxed)).wait();
        RESULT.store(result.map_or_else(Error::status, |periods| periods as i64), Relaxed);
    };
    let thread = spawn(THREADS, &STACK, wait, 0, 50);
    pause(2000);
    thread
}

pub fn attacks(judge: &mut Judge) {
    of_the_dead(judge);
    judge.start();
    one(judge);
    many(judge);
}

/// Clients that have all the timers that they may, alive and dead, take nothing of the judge's part.
fn of_the_dead(judge: &mut Judge) {
    let name = "timers of the dead";
    for client in ["", "timer", "timer2"] {
        if !client.is_empty() {
            let threads = || (0..64).filter(|index| SCHEDULING.thread(*index).is_ok()).count();
            let before = threads();
            judge.expect(name, SUPERVISOR.kill(client), Ok(()));
            // Its thread waits in the clock, and comes home when it is called.
            wait_until(|| threads() < before);
        }
        for timer in core::array::from_fn::<Opened, TIMERS, _>(|_| open(FOR_EVER)) {
            judge.expect(name, timer.and_then(|timer| timer.proxy().close()), Ok(()));
            close_portals(judge, name, timer);
        }
    }
    judge.passed(name);
}

fn one(judge: &mut Judge) {
    let name = "a timer while somebody waits for it";
    judge.expect(name, open(0).map(|timer| timer.first_portal()), Err(Error::BadArgument));
    let timer = open(5 * MILLISECOND);
    let Ok(proxy) = timer.map(|timer| timer.proxy()) else {
        return judge.expect(name, false, true);
    };
    judge.expect(name, lasted(proxy, 4), true);
    judge.expect(name, proxy.set_period(0), Err(Error::BadArgument));
    judge.expect(name, proxy.set_period(3 * MILLISECOND), Ok(()));
    judge.expect(name, lasted(proxy, 3), true);
    judge.expect(name, proxy.set_period(FOR_EVER), Ok(()));
    let thread = wait_for(proxy);
    judge.expect(name, proxy.set_period(MILLISECOND), Ok(()));
    judge.expect(name, thread.and_then(Thread::join), Ok(()));
    judge.expect(name, RESULT.load(Relaxed) > 0, true);
    judge.expect(name, proxy.set_period(FOR_EVER), Ok(()));
    let thread = wait_for(proxy);
    judge.expect(name, proxy.close(), Ok(()));
    judge.expect(name, thread.and_then(Thread::join), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), Error::Cancelled.status());
    judge.expect(name, proxy.wait(), Err(Error::NotFound));
    judge.expect(name, proxy.set_period(1), Err(Error::NotFound));
    judge.expect(name, proxy.close(), Err(Error::NotFound));
    close_portals(judge, name, timer);
    judge.end(name);
}

fn many(judge: &mut Judge) {
    let name = "more timers than a client may have";
    let timers = core::array::from_fn::<Opened, { TIMERS + 1 }, _>(|_| open(FOR_EVER));
    // The oldest gave its place.
    let set = |timer: Opened| timer.and_then(|timer| timer.proxy().set_period(FOR_EVER));
    judge.expect(name, set(timers[0]), Err(Error::NotFound));
    for timer in &timers[1..] {
        judge.expect(name, set(*timer), Ok(()));
        judge.expect(name, timer.and_then(|timer| timer.proxy().close()), Ok(()));
    }
    for timer in timers {
        close_portals(judge, name, timer);
    }
    judge.end(name);
}
