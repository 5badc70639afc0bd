//! A client of the clock whose threads are in each other's way, at every instant: one opens so many timers that the one
//! ends which another is opening; one changes a timer for which another waits, where the clock can call nobody for that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::now;
use cairn::window::ReadWindow;
use cairn::{Error, Object};
use cairn_interfaces::{Clock, Portals, SemaphoreProxy, Threads, Timer, TimerProxy, spawn};
use cairn_test_hostile_timers_racing::{Link, Racer, WAKE};
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-racer",
    imports: { clock: Clock, portals: Portals, threads: Threads },
    exports: { racer: Racer = SERVER, end: Link = SERVER },
    main: main,
}

/// Timers of a client: opening so many ends what was open before.
const PART: usize = 4;
/// Nanoseconds, some three hundred years.
const FOR_EVER: u64 = 10_000_000_000_000_000_000;
const SHORT: u64 = 100_000;
/// First portals of two semaphores: the other thread shall open a timer, and has done so.
static GO: AtomicU32 = AtomicU32::new(0);
static DONE: AtomicU32 = AtomicU32::new(0);
/// One more: the urgent thread shall change the timer; and whether it has.
static CHANGE: AtomicU32 = AtomicU32::new(0);
static DELAY: AtomicU64 = AtomicU64::new(0);
static CHANGED: AtomicBool = AtomicBool::new(false);
/// First portal of that timer.
static TIMER: AtomicU32 = AtomicU32::new(0);
static STACK: Stack<16384> = Stack::new();
/// How often that thread turns round before, so that its instructions lie elsewhere between two ticks.
static TURNS: AtomicU64 = AtomicU64::new(0);

fn semaphore(portals: &AtomicU32) -> SemaphoreProxy {
    SemaphoreProxy::at(portals.load(Relaxed))
}

fn open() -> Result<Object<dyn Timer>, Error> {
    imports::CLOCK.timer(imports::PORTALS, FOR_EVER)
}

fn close(timer: Object<dyn Timer>) {
    // It has ended if the other thread opened enough of them since.
    let _ = timer.proxy().close();
    let _ = imports::PORTALS.close(timer.first_portal().into());
}

/// Opens a timer when it is told to, with little urgency.
fn opener(_: u64) {
    loop {
        semaphore(&GO).p().expect("wait");
        (0..TURNS.load(Relaxed)).for_each(|turn| {
            black_box(turn);
        });
        if let Ok(timer) = open() {
            close(timer);
        }
        semaphore(&DONE).v().expect("signal");
    }
}

/// More urgent than the judge: changes the timer so many ticks after it is told to.
fn main() {
    for portals in [&GO, &DONE, &CHANGE] {
        let made = imports::PORTALS.semaphore(0).expect("semaphore");
        portals.store(made.first_portal(), Relaxed);
    }
    spawn(imports::THREADS, &STACK, opener, 0, 30).expect("thread");
    TIMER.store(open().expect("timer").first_portal(), Relaxed);
    loop {
        semaphore(&CHANGE).p().expect("wait");
        let timer = TimerProxy::at(TIMER.load(Relaxed));
        match DELAY.load(Relaxed) {
            WAKE => {
                let _ = timer.wait();
            }
            ticks => {
                let _ = imports::THREADS.sleep_until(now() + ticks);
                let _ = timer.set_period(FOR_EVER);
            }
        }
        CHANGED.store(true, Relaxed);
    }
}

impl Racer for Server {
    fn open(&self, ticks: u64, turns: u64) -> Result<(), Error> {
        TURNS.store(turns, Relaxed);
        semaphore(&GO).v()?;
        imports::THREADS.sleep_until(now() + ticks)?;
        [(); PART].map(|()| open()).into_iter().flatten().for_each(close);
        semaphore(&DONE).p()
    }
}

impl Link for Server {
    fn wide(
        &self,
        wide: u64,
        ticks: u64,
        _: ReadWindow<'_>,
        _: ReadWindow<'_>,
    ) -> Result<bool, Error> {
        self.narrow(wide, ticks)
    }

    fn narrow(&self, _: u64, ticks: u64) -> Result<bool, Error> {
        if TIMER.load(Relaxed) == 0 {
            return Err(Error::Busy);
        }
        let timer = TimerProxy::at(TIMER.load(Relaxed));
        timer.set_period(SHORT)?;
        match timer.wait() {
            Err(Error::InvocationOverflow) => {
                timer.set_period(if ticks == WAKE { SHORT } else { FOR_EVER })?
            }
            other => return other.map(|_| false),
        }
        DELAY.store(ticks, Relaxed);
        CHANGED.store(false, Relaxed);
        semaphore(&CHANGE).v()?;
        if ticks == WAKE {
            timer.set_period(SHORT)?;
        }
        while !CHANGED.load(Relaxed) {
            let _ = timer.wait();
        }
        Ok(true)
    }
}
