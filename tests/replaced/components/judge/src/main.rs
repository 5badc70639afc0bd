//! Replaces a counter again and again while several threads call it, by contents that are good and others that are not.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_replaced_contract::{Counter, kinds};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        counter: Counter,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, COUNTER, LOADER, MEMORY, PORTALS, REPLACEMENT, SUPERVISOR, THREADS};

const CALLERS: usize = 3;
const LIMIT_MILLISECONDS: u64 = 200;

static STACKS: [Stack<8192>; CALLERS] = [const { Stack::new() }; CALLERS];
static WAITED: AtomicU64 = AtomicU64::new(0);
static WAITING: Stack<8192> = Stack::new();
static STAYING: Stack<8192> = Stack::new();
// Relaxed: counts.
static ADDED: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static LONGEST: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static LOST: AtomicU64 = AtomicU64::new(0);
static PAUSE: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// Calls all the time, and counts what was not answered.
fn call(number: u64) {
    let place = number as usize;
    while STOP.load(Relaxed) == 0 {
        let before = time::now();
        match COUNTER.add(1) {
            Ok(_) => ADDED[place].fetch_add(1, Relaxed),
            Err(_) => LOST.fetch_add(1, Relaxed),
        };
        LONGEST[place].fetch_max(time::now() - before, Relaxed);
        // The others have their turn, of whatever priority.
        let _ = THREADS.sleep_until(time::now() + time::ticks(20 + 10 * number));
    }
}

fn stay(milliseconds: u64) {
    if COUNTER.stay(time::ticks(milliseconds * 1000)).is_err() {
        LOST.fetch_add(1, Relaxed);
    }
}

fn wait(_: u64) {
    match COUNTER.wait() {
        Ok(kind) => WAITED.store(kind, Relaxed),
        Err(_) => _ = LOST.fetch_add(1, Relaxed),
    }
}

fn replace(package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace("counter", package, LIMIT_MILLISECONDS);
    PAUSE.fetch_max(replaced.unwrap_or(0), Relaxed);
    let replaced = replaced.map(drop);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        let why = core::str::from_utf8(&text[..length]).unwrap_or("?");
        say!("replaced: {package}: {why}");
    }
    replaced
}

/// Where nothing calls.
fn idle() {
    expect("as described", COUNTER.kind(), Ok(kinds::GOOD));
    expect("it counts", COUNTER.add(40), Ok(40));
    let cell = COUNTER.cell(PORTALS, 7).expect("there is room");
    expect("its object too", cell.proxy().add(1), Ok(8));
    expect("replaced", replace("other"), Ok(()));
    expect("another content", COUNTER.kind(), Ok(kinds::OTHER));
    expect("the same state", COUNTER.add(2), Ok(42));
    expect("the same object", cell.proxy().add(1), Ok(9));
    expect("and back", replace("good"), Ok(()));
    expect("the first content", COUNTER.kind(), Ok(kinds::GOOD));
    expect("by itself", replace("good"), Ok(()));
    expect("the same state", COUNTER.add(0), Ok(42));
    expect("the same object", cell.proxy().add(1), Ok(10));
    expect("a larger one", replace("large"), Ok(()));
    expect("the same state", COUNTER.add(0), Ok(42));
    expect("the same object", cell.proxy().add(1), Ok(11));
    expect("and back", replace("good"), Ok(()));
    let before = MEMORY.usage();
    for (package, error) in [
        ("faults", Error::Dead),
        ("sleeps", Error::TimedOut),
        ("spins", Error::TimedOut),
        ("refuses", Error::VersionMismatch),
        ("dies", Error::Dead),
        ("keeps", Error::Dead),
        ("nothing", Error::NotFound),
        ("stranger", Error::VersionMismatch),
    ] {
        expect(package, replace(package), Err(error));
        expect("the old goes on", (COUNTER.kind(), COUNTER.add(0)), (Ok(kinds::GOOD), Ok(42)));
        expect("with its object", cell.proxy().add(0), Ok(11));
    }
    expect("its content costs nothing more", MEMORY.usage(), before);
    expect(
        "who ends the system",
        REPLACEMENT.replace("memory", "good", 100),
        Err(Error::NotAllowed),
    );
    expect("nobody", REPLACEMENT.replace("nobody", "good", 100), Err(Error::NotFound));
    say!("ok: replaced, and rolled back");
}

fn under_load() {
    let first = COUNTER.add(0).unwrap_or(0);
    let callers = [30, 55, 90];
    let threads: [_; CALLERS] = core::array::from_fn(|place| {
        spawn(THREADS, &STACKS[place], call, place as u64, callers[place]).expect("a thread")
    });
    for round in 0..arguments::rounds() {
        let package = ["other", "large", "good"][round as usize % 3];
        if replace(package).is_err() {
            expect("a replacement under load", round, u64::MAX);
        }
        if round % 16 == 0 {
            expect("refused under load", replace("refuses").is_err(), true);
        }
    }
    say!("replaced: paused for {} ticks at most", PAUSE.load(Relaxed));
    // Who waits inside waits in the successor.
    let waiting = spawn(THREADS, &WAITING, wait, 0, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    for package in ["other", "good", "other"] {
        expect("one that waits moves", replace(package), Ok(()));
    }
    expect("it waits", WAITED.load(Relaxed), 0);
    let _ = COUNTER.wake();
    let _ = waiting.join();
    expect("it came back from the last one", WAITED.load(Relaxed), kinds::OTHER);
    // Who is inside has its time; then the old goes on.
    let staying = spawn(THREADS, &STAYING, stay, 50, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    expect("a call that comes back", replace("good"), Ok(()));
    let _ = staying.join();
    let staying = spawn(THREADS, &STAYING, stay, 400, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    expect("a call that does not", replace("good"), Err(Error::TimedOut));
    STOP.store(1, Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    let _ = staying.join();
    let added: u64 = ADDED.iter().map(|one| one.load(Relaxed)).sum();
    expect("no call is lost", LOST.load(Relaxed), 0);
    expect("none is counted twice", COUNTER.add(0), Ok(first + added));
    expect("all were busy", ADDED.iter().all(|one| one.load(Relaxed) > arguments::rounds()), true);
    let longest = LONGEST.each_ref().map(|one| one.load(Relaxed));
    say!("replaced: the longest calls took {longest:?} ticks");
    say!("ok: no call is lost");
}

/// Replaces once, whatever becomes of it.
fn replace_once(_: u64) {
    let _ = REPLACEMENT.replace("counter", "other", LIMIT_MILLISECONDS);
}

/// Who has it done, or what is replaced, is killed at some instant of it. Calls may fail then, and state may be lost; but nothing else is.
fn disturbed() {
    let answers = || judge::wait_until(THREADS, || COUNTER.kind().is_ok());
    let replaces = || {
        judge::wait_until(THREADS, || {
            REPLACEMENT.replace("counter", "good", LIMIT_MILLISECONDS).is_ok()
        })
    };
    replaces();
    let before = MEMORY.usage();
    for victim in ["loader", "counter"] {
        for round in 0..arguments::rounds() / 4 {
            let once = spawn(THREADS, &WAITING, replace_once, 0, 94).expect("a thread");
            let _ = THREADS.sleep_until(time::now() + time::ticks(37 * round % 1500));
            if SUPERVISOR.restart(victim).is_err() {
                expect("it is killed", round, u64::MAX);
            }
            let _ = once.join();
            answers();
        }
        replaces();
        expect("nothing is left of it", (victim, MEMORY.usage()), (victim, before));
    }
    say!("ok: disturbed");
}

fn main() {
    idle();
    under_load();
    disturbed();
    say!("replaced: done");
    let _ = SUPERVISOR.halt(0);
}
