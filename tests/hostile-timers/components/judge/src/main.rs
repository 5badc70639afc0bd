//! Has a racer open timers in every order, and then wants to be woken at once when it closes one of its own.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, own_thread, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::{SemaphoreProxy, TimerProxy, spawn};
use cairn_test_hostile_contract::say;
use cairn_test_hostile_timers_racing::{Link, Racer, WAKE};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-timers-judge",
    imports: {
        console: interfaces::Console,
        clock: interfaces::Clock,
        portals: interfaces::Portals,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        scheduling: interfaces::SchedulerStatistics,
        racer: Racer,
        links: Link,
    },
    main: main,
}

const FOR_EVER: u64 = 10_000_000_000_000_000_000;
/// More ticks than opening a timer takes, and turns of the other thread that are less than a tick.
const TICKS: u64 = 400;
const TURNS: [u64; 4] = [0, 8, 16, 24];
/// Microseconds between the end of a timer and that of waiting for it.
const SOON: u64 = 100;
const ROUNDS: u64 = 10;
/// Nanoseconds.
const PERIOD: u64 = 1_000_000;
/// Links in a row.
const LINKS: u64 = 7;
/// How often a thread waits, while another changes the timer after one of so many times.
const WAITS: u64 = 2000;
const DELAYS: u64 = 50;
/// How often it wakes another instead: more than there are places to wait in the clock.
const WAKES: u64 = 40;

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

/// What it costs, in ticks, to wait for a timer once.
fn price() -> Result<u64, Error> {
    let timer = imports::CLOCK.timer(imports::PORTALS, PERIOD)?;
    let before = imports::SCHEDULING.thread_time(own_thread())?;
    timer.proxy().wait()?;
    let after = imports::SCHEDULING.thread_time(own_thread())?;
    timer.proxy().close()?;
    imports::PORTALS.close(timer.first_portal().into())?;
    Ok(after - before)
}

/// Threads open so many timers that one ends which another is opening.
fn opening() -> Result<bool, Error> {
    let before = longest()?;
    for turns in TURNS {
        for ticks in 0..TICKS {
            imports::RACER.open(ticks, turns)?;
        }
    }
    let after = longest()?;
    say!("who waits is woken after {before} ticks, then {after}");
    Ok(after < ticks(SOON))
}

/// A thread waits, or wakes another, as deep in calls as it comes into the clock: who does can call the scheduler from there.
fn deep() -> Result<bool, Error> {
    while imports::LINKS.narrow(0, 0) == Err(Error::Busy) {
        pause(1000)?;
    }
    let before = price()?;
    let (mut came, mut stranded) = (0, 0);
    for wide in 0..=LINKS {
        for ticks in 0..WAITS {
            let how = if ticks < WAKES { WAKE } else { ticks % DELAYS };
            match imports::LINKS.narrow(wide, how) {
                Ok(true) => stranded += 1,
                Ok(false) => came += 1,
                // There is too little room for the clock.
                Err(Error::InvocationOverflow) => break,
                Err(error) => return Err(error),
            }
        }
    }
    let after = price()?;
    say!(
        "waiting costs {before} ticks, then {after}, after {came} waits, {stranded} without a call"
    );
    Ok(came > 0 && stranded == 0 && after < 3 * before)
}

fn judge() -> Result<u64, Error> {
    WAIT.store(imports::PORTALS.semaphore(0)?.first_portal(), Relaxed);
    spawn(imports::THREADS, &STACK, waiter, 0, 70)?;
    let mut failed = 0;
    for (name, attack) in [
        ("waiting costs what it did", deep as fn() -> Result<bool, Error>),
        // It ends the racer's own timer.
        ("who waits is woken at once", opening),
    ] {
        match attack()? {
            true => say!("ok: {name}"),
            false => {
                failed += 1;
                say!("FAILED: {name}");
            }
        }
    }
    Ok(failed)
}

fn main() {
    let failed = judge().expect("judge");
    say!("hostile-timers: {failed} failed");
    // The console's driver goes first, by deadlines too.
    let _ = imports::THREADS.own_name().and_then(|own| imports::THREADS.set_priority(own, 1));
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
