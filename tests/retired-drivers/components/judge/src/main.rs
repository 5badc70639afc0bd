//! Ends drivers for good while their devices are at work, and sees that nothing of them reaches anybody.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::component::Interface;
use cairn::sync::Semaphore;
use cairn::thread::Stack;
use cairn::time::Instant;
use cairn::{Error, Object};
use cairn_driver_interfaces::{Blocks, Random, WallClock};
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::{judge, say};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;

cairn::component! {
    name: "retired-drivers-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        loader: interfaces::Loader,
        scheduling: interfaces::SchedulerStatistics,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
    },
    main: main,
}

use imports::{LOADER, PORTALS, SUPERVISOR, THREADS, USAGE};

cairn_test_hostile_contract::harness!();
use harness::{Judge, wait_until};

/// Below this one, which looks whether it waits.
const CLIENT_PRIORITY: u8 = 50;
/// When the alarm comes, and until when nobody is to have heard of it.
const ALARM_MICROSECONDS: u64 = 100_000;
/// As many as it can make, so that the driver's are among them.
const SEMAPHORES: usize = 40;
const ROUNDS: usize = 12;

static STACK: Stack<8192> = Stack::new();
static SEMAPHORES_MADE: [Semaphore; SEMAPHORES] = [const { Semaphore::new(0) }; SEMAPHORES];
/// How many calls were answered, and with what the last one ended: 0, none.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

fn open<T: Interface + ?Sized>(name: &str) -> Object<T> {
    PORTALS.open_object::<T>(name).expect("it is open")
}

/// Notes an answer; whether there will be more.
fn note(answer: Result<(), Error>) -> bool {
    match answer {
        Ok(()) => ANSWERED.fetch_add(1, Relaxed),
        Err(error) => ENDED.fetch_add(error as i64 as u64, Relaxed),
    };
    answer.is_ok()
}

/// Waits for an alarm.
fn wait_for_alarm(_: u64) {
    let clock = open::<dyn WallClock>("rtc.clock");
    let alarm = clock.proxy().now().map(|now| now + ALARM_MICROSECONDS * 1000);
    ANSWERED.fetch_add(1, Relaxed);
    note(alarm.and_then(|alarm| clock.proxy().wait_until(alarm)));
}

/// Reads without end.
fn read(_: u64) {
    let (blocks, mut buffer) = (open::<dyn Blocks>("disk.blocks"), [0; 4096]);
    while note(blocks.proxy().read(0, &mut buffer)) {}
}

fn take_random(_: u64) {
    let (random, mut buffer) = (open::<dyn Random>("rng.random"), [0; 256]);
    while note(random.proxy().fill(&mut buffer).map(drop)) {}
}

/// Ends a driver for good in the middle of its client's calls.
fn retire(judge: &mut Judge, driver: &str, client: fn(u64), calls: u64) {
    [&ANSWERED, &ENDED].into_iter().for_each(|count| count.store(0, Relaxed));
    let thread = spawn(THREADS, &STACK, client, 0, CLIENT_PRIORITY).expect("a thread");
    wait_until(|| ANSWERED.load(Relaxed) >= calls);
    let before = USAGE.usage().map_or(0, |(free, _)| free);
    judge.expect("it retires", SUPERVISOR.retire(driver), Ok(()));
    judge.expect("its client comes back", thread.join(), Ok(()));
    // In the driver, or between two calls.
    let ends = [Error::Dead, Error::NoPortal].map(|error| error as i64 as u64);
    judge.expect("with an error", ends.contains(&ENDED.load(Relaxed)), true);
    let is_there = judge::life(SUPERVISOR, driver, |_, _| ()).is_some();
    judge.expect("it is not there", is_there, false);
    judge.expect("a second time", SUPERVISOR.retire(driver), Err(Error::NotFound));
    let after = USAGE.usage().map_or(0, |(free, _)| free);
    judge.expect("its memory is free", after > before, true);
}

fn main() {
    let mut judge = harness::begin();
    // Makes what the first use makes.
    let _ = LOADER.load("guest", "first").and_then(|_| LOADER.unload("first"));
    retire(&mut judge, "rtc", wait_for_alarm, 1);
    // Each of these would wake if its driver's device signalled it.
    let wakes = |one: &Semaphore, after| {
        one.acquire_before(Instant::now() + Duration::from_micros(after)).is_ok()
    };
    for one in &SEMAPHORES_MADE {
        judge.expect("nobody has signalled", wakes(one, 1), false);
    }
    harness::pause(2 * ALARM_MICROSECONDS);
    for one in &SEMAPHORES_MADE {
        judge.expect("the alarm reaches nobody", wakes(one, 1), false);
    }
    judge.passed("a driver whose device interrupts later");
    retire(&mut judge, "disk", read, 20);
    retire(&mut judge, "rng", take_random, 20);
    judge.passed("drivers whose devices are at work");
    judge.start();
    for _ in 0..ROUNDS {
        for name in ["one", "two", "three", "four"] {
            judge.expect("load", LOADER.load("guest", name).map(drop), Ok(()));
        }
        for name in ["three", "one", "four", "two"] {
            judge.expect("unload", LOADER.unload(name), Ok(()));
        }
    }
    judge.end("others under their numbers");
    say!("retired drivers: done");
    let _ = SUPERVISOR.halt(judge.failed().min(255));
}
