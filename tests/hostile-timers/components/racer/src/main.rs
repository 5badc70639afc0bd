//! A client of the clock whose urgent thread opens so many timers that the one ends which its other thread is opening,
//! at every instant of that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::now;
use cairn::{Error, Object};
use cairn_interfaces::{Clock, Portals, SemaphoreProxy, Threads, Timer};
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// What the judge calls.
#[cairn::interface]
trait Racer {
    /// Interrupts the other thread so many ticks after it began, which was so many turns later than it could.
    fn race(&self, ticks: u64, turns: u64) -> Result<(), Error>;
}

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-racer",
    imports: { clock: Clock, portals: Portals, threads: Threads },
    exports: { racer: Racer = SERVER },
    main: main,
}

/// Timers of a client: opening so many ends what was open before.
const PART: usize = 4;
/// Nanoseconds, some three hundred years.
const FOR_EVER: u64 = 10_000_000_000_000_000_000;
/// First portals of two semaphores: the other thread shall open a timer, and has done so.
static GO: AtomicU32 = AtomicU32::new(0);
static DONE: AtomicU32 = AtomicU32::new(0);
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

fn main() {
    for portals in [&DONE, &GO] {
        let made = imports::PORTALS.semaphore(0).expect("semaphore");
        portals.store(made.first_portal(), Relaxed);
    }
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

impl Racer for Server {
    fn race(&self, ticks: u64, turns: u64) -> Result<(), Error> {
        if GO.load(Relaxed) == 0 {
            return Err(Error::Busy);
        }
        TURNS.store(turns, Relaxed);
        semaphore(&GO).v()?;
        imports::THREADS.sleep_until(now() + ticks)?;
        [(); PART].map(|()| open()).into_iter().flatten().for_each(close);
        semaphore(&DONE).p()
    }
}
