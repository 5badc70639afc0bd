//! Drives the test of faults: has its neighbours do what they may not, and says what it saw.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::InstanceId;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{self as interfaces, Thread, spawn};
use cairn_test_trouble::{DEEDS, PRIVILEGED};
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "driver",
    imports: {
        threads: interfaces::Threads,
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        memory: interfaces::Memory,
        trouble: cairn_test_trouble::Trouble,
        middle: cairn_test_relay::Relay,
        last: cairn_test_relay::Relay,
    },
    main: main,
}

macro_rules! say {
    ($($argument:tt)*) => {{
        let text = format_args!("{}\n", format_args!($($argument)*));
        imports::CONSOLE.print(text).expect("console");
    }};
}

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// Waits until the victim answers again; what it answers first tells that it was started anew.
fn answers_again() -> u64 {
    loop {
        match imports::TROUBLE.count() {
            Ok(count) => return count,
            Err(Error::Dead) => pause(1000),
            Err(error) => panic!("{}", error.text()),
        }
    }
}

fn free_pages() -> u64 {
    imports::USAGE.usage().expect("usage").0
}

fn main() {
    deeds();
    short_calls();
    kills();
    middle();
    memory();
    crash_loop();
    say!("driver: done");
    imports::SUPERVISOR.halt(0).expect("halt");
}

fn deeds() {
    assert_eq!(imports::TROUBLE.count(), Ok(1));
    let before = free_pages();
    // Somebody else's memory: a variable of this instance.
    let own = AtomicU64::new(7);
    let is_in_kernel = cairn::environment::argument() == "kernel";
    for (deed, name) in DEEDS.iter().enumerate() {
        if is_in_kernel && PRIVILEGED.contains(&deed) {
            continue;
        }
        let result = imports::TROUBLE.commit(deed as u64, own.as_ptr() as u64);
        // Faults in a row are punished with waiting, which would make this test long.
        assert_eq!(imports::SUPERVISOR.restart("trouble"), Ok(()));
        let count = answers_again();
        say!(
            "driver: to {name} ended with {:?}; then it answers {count}",
            result.map_err(Error::text)
        );
        assert_eq!((result, count, own.load(Relaxed)), (Err(Error::Dead), 1, 7));
    }
    assert_eq!(free_pages(), before);
}

/// Together they take longer than one may.
fn short_calls() {
    let begin = imports::THREADS.time_used().expect("time");
    let mut calls = 1;
    while imports::THREADS.time_used().expect("time") - begin < ticks(20_000) {
        calls += 1;
        assert_eq!(imports::TROUBLE.count(), Ok(calls));
    }
    say!("driver: many short calls are not one long call");
}

fn kills() {
    assert_eq!(imports::SUPERVISOR.kill("trouble"), Ok(()));
    assert_eq!(imports::TROUBLE.count(), Err(Error::Dead));
    assert_eq!(imports::TROUBLE.count(), Err(Error::Dead));
    say!("driver: the killed one does not answer");
    assert_eq!(imports::SUPERVISOR.restart("trouble"), Ok(()));
    assert_eq!(answers_again(), 1);
    assert_eq!(imports::SUPERVISOR.restart("trouble"), Ok(()));
    assert_eq!(answers_again(), 1);
    say!("driver: the restarted one answers");
    assert_eq!(imports::SUPERVISOR.crash("trouble"), Ok(()));
    assert_eq!(imports::TROUBLE.count(), Err(Error::Dead));
    assert_eq!(answers_again(), 1);
    say!("driver: the crashed one answers again");
    assert_eq!(imports::SUPERVISOR.kill("scheduler"), Err(Error::NotAllowed));
    assert_eq!(imports::SUPERVISOR.kill("nobody"), Err(Error::NotFound));
}

/// Number of the instance `loop`.
const LOOP: u64 = 12;
const WAITING: i64 = 1000;
static RESULT: AtomicI64 = AtomicI64::new(WAITING);
static STACK: Stack<8192> = Stack::new();

/// The first of three.
fn first(microseconds: u64) {
    let result = imports::MIDDLE.hold(microseconds);
    RESULT.store(result.map_or_else(Error::status, |count| count as i64), Relaxed);
}

fn begin_first(microseconds: u64) -> Thread {
    RESULT.store(WAITING, Relaxed);
    spawn(imports::THREADS, &STACK, first, microseconds, 50).expect("spawn")
}

fn middle() {
    let before = free_pages();
    let thread = begin_first(1000);
    thread.join().expect("join");
    assert_eq!(RESULT.load(Relaxed), 1);

    // The middle one dies while the thread is in the last one, which is not disturbed.
    let thread = begin_first(50_000);
    pause(10_000);
    assert_eq!(imports::SUPERVISOR.kill("middle"), Ok(()));
    assert_eq!(RESULT.load(Relaxed), WAITING);
    thread.join().expect("join");
    assert_eq!(RESULT.load(Relaxed), Error::Dead.status());
    assert_eq!(imports::LAST.hold(0), Ok(3));
    say!("driver: the middle one of three died, the last one finished");

    // The last one dies while the thread waits in it.
    assert_eq!(imports::SUPERVISOR.restart("middle"), Ok(()));
    pause(5000);
    let thread = begin_first(10_000_000);
    pause(10_000);
    assert_eq!(imports::SUPERVISOR.kill("last"), Ok(()));
    thread.join().expect("join");
    assert_eq!(RESULT.load(Relaxed), Error::Dead.status());
    assert_eq!(imports::SUPERVISOR.restart("last"), Ok(()));
    pause(5000);
    let thread = begin_first(0);
    thread.join().expect("join");
    assert_eq!(RESULT.load(Relaxed), 1);
    say!("driver: the last one of three died and serves again");
    pause(5000);
    assert_eq!(free_pages(), before);
}

fn memory() {
    // A page table for sections is made once, and kept.
    let section = imports::MEMORY.make_section(1).expect("section");
    // It is offered to the scheduler, which never accepts; nothing of that stays.
    assert_eq!(imports::MEMORY.share(section, InstanceId(1), true), Ok(()));
    assert_eq!(imports::MEMORY.accept(section), Err(Error::BadArgument));
    imports::MEMORY.drop_section(section).expect("drop");
    assert_eq!(imports::MEMORY.accept(section), Err(Error::NotFound));
    let before = free_pages();
    let own = imports::USAGE.usage_of(cairn::environment::startup().instance).expect("usage");
    let mut given = [0; 8];
    for address in &mut given {
        *address = imports::MEMORY.allocate(3).expect("allocate");
    }
    assert_eq!(imports::MEMORY.allocate(1 << 20), Err(Error::Exhausted));
    for address in given {
        imports::MEMORY.free(address, 3).expect("free");
        assert_eq!(imports::MEMORY.free(address, 3), Err(Error::NotFound));
    }
    assert_eq!(imports::MEMORY.free(0, 1), Err(Error::BadArgument));
    let section = imports::MEMORY.make_section(4).expect("section");
    imports::MEMORY.drop_section(section).expect("drop");
    assert_eq!(imports::USAGE.usage_of(cairn::environment::startup().instance), Ok(own));
    assert_eq!(free_pages(), before);
    say!("driver: memory comes and goes");
}

/// How often an instance was started again.
fn restarts_of(number: u64) -> u64 {
    let mut text = [0; 64];
    let (length, _) = imports::SUPERVISOR.describe(number, &mut text).expect("describe");
    let words = core::str::from_utf8(&text[..length]).expect("text");
    words.split(' ').nth(4).and_then(|word| word.parse().ok()).expect("restarts")
}

/// A neighbour that faults whenever it is started, with a higher priority than this thread, does not
/// keep it from its period.
fn crash_loop() {
    const PERIOD: u64 = 2000;
    let before = restarts_of(LOOP);
    assert_eq!(imports::SUPERVISOR.restart("loop"), Ok(()));
    let begin = now();
    let mut latest = 0;
    for period in 1..=200 {
        let due = begin + ticks(PERIOD) * period;
        imports::THREADS.sleep_until(due).expect("sleep");
        latest = latest.max(now() - due);
    }
    let restarts = restarts_of(LOOP) - before;
    // In 400 ms: at once, then after 10, 20, 40, 80, 160 ms, and the first start itself.
    assert!((5..=8).contains(&restarts), "{restarts} restarts");
    assert!(latest < ticks(PERIOD), "a period began {latest} ticks late");
    say!("driver: beside a crash loop every period began in time");
}
