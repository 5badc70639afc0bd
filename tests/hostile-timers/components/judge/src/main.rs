//! Has a racer open timers in every order, and then wants to be woken at once when it closes one of its own.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::{SemaphoreProxy, TimerProxy, spawn};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// As the racer has it.
#[cairn::interface]
trait Racer {
    /// Interrupts the other thread so many ticks after it began, which was so many turns later than it could.
    fn race(&self, ticks: u64, turns: u64) -> Result<(), Error>;
}

cairn::component! {
    name: "hostile-timers-judge",
    imports: {
        console: interfaces::Console,
        clock: interfaces::Clock,
        portals: interfaces::Portals,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        racer: Racer,
    },
    main: main,
}

macro_rules! say {
    ($($argument:tt)*) => {{
        use core::fmt::Write;
        let write = |text: &[u8]| imports::CONSOLE.write(text).expect("console");
        let mut line = cairn_test_hostile_contract::Line::new(write);
        let _ = writeln!(line, $($argument)*);
        line.flush();
    }};
}

const FOR_EVER: u64 = 10_000_000_000_000_000_000;
/// More ticks than opening a timer takes, and turns of the other thread that are less than a tick.
const TICKS: u64 = 400;
const TURNS: [u64; 4] = [0, 8, 16, 24];
/// Microseconds between the end of a timer and that of waiting for it.
const SOON: u64 = 100;
const ROUNDS: u64 = 10;

static STACK: Stack<16384> = Stack::new();
static WAIT: AtomicU32 = AtomicU32::new(0);
static TIMER: AtomicU32 = AtomicU32::new(0);
/// When the thread went on that waited.
static WOKEN: AtomicU64 = AtomicU64::new(0);

fn pause(microseconds: u64) -> Result<(), Error> {
    imports::THREADS.sleep_until(now() + ticks(microseconds))
}

fn waiter(_: u64) {
    loop {
        SemaphoreProxy::at(WAIT.load(Relaxed)).p().expect("wait");
        let _ = TimerProxy::at(TIMER.load(Relaxed)).wait();
        WOKEN.store(now(), Relaxed);
    }
}

/// The longest time, in ticks, from the end of a timer until who waited for it goes on.
fn longest() -> Result<u64, Error> {
    let mut longest = 0;
    for _ in 0..ROUNDS {
        let timer = imports::CLOCK.timer(imports::PORTALS, FOR_EVER)?;
        TIMER.store(timer.first_portal(), Relaxed);
        WOKEN.store(0, Relaxed);
        SemaphoreProxy::at(WAIT.load(Relaxed)).v()?;
        pause(20)?;
        let closed = now();
        timer.proxy().close()?;
        while WOKEN.load(Relaxed) == 0 {
            pause(10)?;
        }
        longest = longest.max(WOKEN.load(Relaxed) - closed);
        imports::PORTALS.close(timer.first_portal().into())?;
    }
    Ok(longest)
}

fn judge() -> Result<u64, Error> {
    WAIT.store(imports::PORTALS.semaphore(0)?.first_portal(), Relaxed);
    spawn(imports::THREADS, &STACK, waiter, 0, 70)?;
    let mut failed = 0;
    say!("alone: {} ticks", longest()?);
    while imports::RACER.race(0, 0) == Err(Error::Busy) {
        pause(1000)?;
    }
    for turns in TURNS {
        for ticks in 0..TICKS {
            imports::RACER.race(ticks, turns)?;
        }
    }
    let after = longest()?;
    say!("after the race: {after} ticks");
    match after > ticks(SOON) {
        true => failed += 1,
        false => say!("ok: who waits is woken at once"),
    }
    Ok(failed)
}

fn main() {
    let failed = judge().expect("judge");
    if failed > 0 {
        say!("FAILED: who waits is not woken");
    }
    say!("hostile-timers: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
