//! Replaces the interrupt dispatcher and the component that idles again and again, while a disk, the serial port and the timer interrupt, with the
//! processor idle in between and with a thread that never leaves it idle.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_driver_interfaces::{BLOCK_SIZE, Blocks};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-roots-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        statistics: interfaces::MemoryStatistics,
        scheduling: interfaces::SchedulerStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        blocks: Blocks,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{BLOCKS, CONSOLE, LOADER, REPLACEMENT, SCHEDULING, STATISTICS, SUPERVISOR, THREADS};

/// Who waits for interrupts, each on a thread of its own.
const CALLERS: [fn(u64) -> Result<(), Error>; 3] = [disk, sleep, print];
const PRIORITIES: [u8; CALLERS.len()] = [60, 90, 40];
/// Below all of them, and above who idles.
const BUSY_PRIORITY: u8 = 5;
const LIMIT_MILLISECONDS: u64 = 200;
/// Longest that a sleep may take behind its time.
const LATE_MICROSECONDS: u64 = 20_000;
/// Each with a package of another version, and one of its own.
const ROOTS: [(&str, [&str; 2]); 2] =
    [("interrupts", ["interrupts2", "interrupts1"]), ("idle", ["idle2", "idle1"])];

static STACKS: [Stack<16384>; CALLERS.len()] = [const { Stack::new() }; CALLERS.len()];
static ONCE: Stack<8192> = Stack::new();
static BUSY: Stack<4096> = Stack::new();
// Relaxed: counts.
static DONE: [AtomicU64; CALLERS.len()] = [const { AtomicU64::new(0) }; CALLERS.len()];
static LOST: AtomicU64 = AtomicU64::new(0);
static LATEST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// What is written is read: each call waits for an interrupt of the disk.
fn disk(round: u64) -> Result<(), Error> {
    let mut block = [0; BLOCK_SIZE as usize];
    block.fill(round as u8 | 1);
    BLOCKS.write(round % 64, &block)?;
    let mut read = [0; BLOCK_SIZE as usize];
    BLOCKS.read(round % 64, &mut read)?;
    if read == block { Ok(()) } else { Err(Error::Malformed) }
}

/// The timer comes in time.
fn sleep(round: u64) -> Result<(), Error> {
    let until = time::now() + time::ticks(50 + round % 400);
    THREADS.sleep_until(until)?;
    let late = time::now().saturating_sub(until);
    LATEST.fetch_max(late, Relaxed);
    if late < time::ticks(LATE_MICROSECONDS) { Ok(()) } else { Err(Error::TimedOut) }
}

/// More than the serial port takes at once: the rest goes when it interrupts.
fn print(round: u64) -> Result<(), Error> {
    say!("line {round} of those that the serial port has to take while others are at work");
    THREADS.sleep_until(time::now() + time::ticks(3000))
}

/// Has interrupts come all the time, and counts what was not as it should be.
fn call(number: u64) {
    let place = number as usize;
    for round in 0.. {
        if STOP.load(Relaxed) != 0 {
            return;
        }
        match CALLERS[place](round) {
            Ok(()) => _ = DONE[place].fetch_add(1, Relaxed),
            Err(error) => {
                LOST.fetch_add(1, Relaxed);
                say!("roots: caller {place}: {}", error.text());
            }
        }
    }
}

/// Never leaves the processor to who idles.
fn keep(_: u64) {
    while STOP.load(Relaxed) == 0 {
        core::hint::spin_loop();
    }
}

fn replace(name: &str, package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("roots: {package}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    replaced.map(drop)
}

/// The number of an instance.
fn number(name: &str) -> cairn::InstanceId {
    let mut text = [0; 128];
    let mut next = 1;
    while let Ok((length, number)) = SUPERVISOR.describe(next, &mut text) {
        let line = core::str::from_utf8(&text[..length]).unwrap_or("");
        if line.split(' ').next() == Some(name) {
            return cairn::InstanceId(number as u16);
        }
        next = number + 1;
    }
    cairn::InstanceId(0)
}

/// Ticks for which nobody had anything to do, unless the hart's clock stands still then, and those in which that was found out.
fn idled() -> u64 {
    SCHEDULING.thread_time(0).unwrap_or(0)
}

fn refused() {
    for (name, package) in [
        ("interrupts", "stranger"),
        ("interrupts", "idle2"),
        ("idle", "stranger"),
        ("idle", "interrupts2"),
    ] {
        expect(package, (name, replace(name, package)), (name, Err(Error::VersionMismatch)));
    }
}

/// Without a load: what it is replaced by is what is there then, and nothing is left of the other.
fn alone() {
    let mut before = STATISTICS.usage();
    for (name, packages) in ROOTS {
        let of = number(name);
        let mut sizes = [(0, 0); 2];
        for round in 0..6 {
            let package = packages[round % 2];
            expect(package, replace(name, package), Ok(()));
            // The layout's own content shares nothing with the shelf.
            match round {
                0 => {}
                1 => before = STATISTICS.usage(),
                3 | 5 => expect("nothing is left of the other", STATISTICS.usage(), before),
                _ => {}
            }
            let size = STATISTICS.usage_of(of).unwrap_or((0, 0));
            if round < 2 {
                sizes[round] = size;
            }
            expect("its memory", size, sizes[round % 2]);
            let (since, present) = (idled(), time::now());
            expect("the timer", THREADS.sleep_until(present + time::ticks(500)), Ok(()));
            expect("it idles", idled() > since, true);
            expect("the disk", disk(round as u64), Ok(()));
        }
        if name == "idle" {
            expect("one of another size", sizes[0] != sizes[1], true);
        }
    }
    say!("ok: replaced, and refused");
}

fn replace_all(rounds: u64, what: &str) {
    let before = DONE.each_ref().map(|one| one.load(Relaxed));
    for round in 0..rounds {
        for (name, packages) in ROOTS {
            if replace(name, packages[round as usize % 2]).is_err() {
                expect("replaced under load", (name, round), ("", 0));
            }
            let _ = THREADS.sleep_until(time::now() + time::ticks(7 * round % 300));
        }
    }
    let all = DONE.iter().zip(before).all(|(now, before)| now.load(Relaxed) > before);
    expect("interrupts came to all", all, true);
    say!("ok: {what}");
}

/// Replaces once, whatever becomes of it.
fn replace_once(round: u64) {
    let (name, packages) = ROOTS[round as usize % ROOTS.len()];
    let _ = REPLACEMENT.replace(name, packages[round as usize / ROOTS.len() % 2], 200);
}

/// The loader is killed at some instant of it.
fn disturbed() {
    for round in 0..arguments::rounds() {
        let once = spawn(THREADS, &ONCE, replace_once, round, 94).expect("a thread");
        let _ = THREADS.sleep_until(time::now() + time::ticks(41 * round % 1500));
        if SUPERVISOR.restart("loader").is_err() {
            expect("it is killed", round, u64::MAX);
        }
        let _ = once.join();
        let (name, packages) = ROOTS[round as usize % ROOTS.len()];
        let goes_on = judge::wait_until(THREADS, || {
            REPLACEMENT.replace(name, packages[1], LIMIT_MILLISECONDS).is_ok()
        });
        if !goes_on {
            expect("it can be replaced", round, u64::MAX);
        }
    }
    say!("ok: disturbed");
}

fn main() {
    // The driver begins.
    let begun = judge::wait_until(THREADS, || disk(0).is_ok());
    expect("the disk begins", begun, true);
    refused();
    alone();
    let before = STATISTICS.usage();
    let threads: [_; CALLERS.len()] = core::array::from_fn(|place| {
        spawn(THREADS, &STACKS[place], call, place as u64, PRIORITIES[place]).expect("a thread")
    });
    replace_all(arguments::rounds(), "while it is idle in between");
    let busy = spawn(THREADS, &BUSY, keep, 0, BUSY_PRIORITY).expect("a thread");
    replace_all(arguments::rounds(), "while it is never idle");
    disturbed();
    STOP.store(1, Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    let _ = busy.join();
    expect("no interrupt is lost", LOST.load(Relaxed), 0);
    expect("nothing is left", STATISTICS.usage(), before);
    let done = DONE.each_ref().map(|one| one.load(Relaxed));
    say!("roots: {done:?} rounds, a sleep ended {} ticks late at most", LATEST.load(Relaxed));
    say!("roots: done");
    let _ = SUPERVISOR.halt(0);
}
