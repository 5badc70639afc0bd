//! Replaces two of one domain again and again while several threads call both, by contents that are good and others that are not.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_replaced_contract::{Counter, kinds};
use cairn_test_replaced_fellows_contract::{Front, misbehaves};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-fellows-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        counter: Counter,
        front: Front,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, COUNTER, FRONT, LOADER, MEMORY, PORTALS, REPLACEMENT, SUPERVISOR, THREADS};

const CALLERS: usize = 3;
const LIMIT_MILLISECONDS: u64 = 200;

static STACKS: [Stack<8192>; CALLERS] = [const { Stack::new() }; CALLERS];
static BESIDE: Stack<8192> = Stack::new();
// Relaxed: counts.
static ADDED: [AtomicU64; CALLERS] = [const { AtomicU64::new(0) }; CALLERS];
static ASKED: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// Calls both all the time, and counts what was not answered.
fn call(number: u64) {
    let place = number as usize;
    while STOP.load(Relaxed) == 0 {
        let (of_front, answered) = match number % 2 {
            0 => (1, FRONT.add(1).is_ok()),
            _ => (0, COUNTER.add(1).is_ok()),
        };
        match answered {
            true => ADDED[place].fetch_add(1, Relaxed),
            false => LOST.fetch_add(1, Relaxed),
        };
        ASKED.fetch_add(of_front, Relaxed);
        // The others have their turn, of whatever priority.
        let _ = THREADS.sleep_until(time::now() + time::ticks(20 + 10 * number));
    }
}

fn stay(milliseconds: u64) {
    if FRONT.stay(time::ticks(milliseconds * 1000)).is_err() {
        LOST.fetch_add(1, Relaxed);
    }
}

fn replace(name: &str, package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS).map(drop);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        let why = core::str::from_utf8(&text[..length]).unwrap_or("?");
        say!("replaced fellows: {name} by {package}: {why}");
    }
    replaced
}

/// What both know, and which contents they are.
fn known() -> (Result<(u64, u64), Error>, Result<u64, Error>) {
    (FRONT.kinds(), COUNTER.add(0))
}

/// Where nothing calls.
fn idle() {
    expect("as described", FRONT.kinds(), Ok((kinds::GOOD, kinds::GOOD)));
    expect("they count", FRONT.add(40), Ok((40, 1)));
    let cell = COUNTER.cell(PORTALS, 7).expect("there is room");
    expect("the one is replaced", replace("counter", "other"), Ok(()));
    expect("the other finds it", FRONT.kinds(), Ok((kinds::OTHER, kinds::GOOD)));
    expect("both go on", FRONT.add(2), Ok((42, 2)));
    expect("its object too", cell.proxy().add(1), Ok(8));
    expect("the other is replaced", replace("front", "front2"), Ok(()));
    expect("it finds the one", FRONT.kinds(), Ok((kinds::OTHER, kinds::OTHER)));
    expect("both go on", FRONT.add(1), Ok((43, 3)));
    expect("the object too", cell.proxy().add(1), Ok(9));
    expect("a larger one", replace("counter", "large"), Ok(()));
    expect("that is found by portals", FRONT.add(1), Ok((44, 4)));
    expect("back", (replace("front", "front1"), replace("counter", "good")), (Ok(()), Ok(())));
    expect("as at first", FRONT.kinds(), Ok((kinds::GOOD, kinds::GOOD)));
    expect("both go on", FRONT.add(1), Ok((45, 5)));
    expect("the object too", cell.proxy().add(1), Ok(10));
    say!("ok: each is replaced, and keeps what it knows");
}

fn refused() {
    let before = MEMORY.usage();
    for (name, package, error) in [
        ("counter", "faults", Error::Dead),
        ("counter", "sleeps", Error::TimedOut),
        ("counter", "refuses", Error::VersionMismatch),
        ("counter", "dies", Error::Dead),
        ("counter", "keeps", Error::Dead),
        ("counter", "stranger", Error::VersionMismatch),
        ("counter", "wide", Error::TooLarge),
        ("front", "front-faults", Error::Dead),
        ("front", "front-refuses", Error::VersionMismatch),
        ("front", "front-dies", Error::Dead),
        ("front", "front-elsewhere", Error::BadArgument),
    ] {
        expect(package, replace(name, package), Err(error));
        judge::wait_until(THREADS, || FRONT.kinds().is_ok());
        expect(package, known(), (Ok((kinds::GOOD, kinds::GOOD)), Ok(45)));
    }
    expect("both go on", FRONT.add(0), Ok((45, 6)));
    expect("their content costs nothing more", MEMORY.usage(), before);
    say!("ok: rolled back");
}

/// What a fellow does hurts itself, and the other as far as they end together.
fn misbehaving() {
    for (how, error) in [
        (misbehaves::KEEPS, Error::NotAllowed),
        (misbehaves::DIES, Error::Dead),
        (misbehaves::REFUSES, Error::VersionMismatch),
        (misbehaves::CHOKES, Error::Dead),
    ] {
        let (sum, asked) = FRONT.add(1).unwrap_or((0, 0));
        expect("misbehave", FRONT.misbehave(how), Ok(()));
        expect("it is not replaced", replace("counter", "other"), Err(error));
        judge::wait_until(THREADS, || FRONT.kinds().is_ok());
        expect("it behaves", FRONT.misbehave(0), Ok(()));
        let left = match how {
            misbehaves::KEEPS => (sum, asked),
            // Both die, as at any time: of its state when it comes back, too.
            misbehaves::DIES | misbehaves::CHOKES => (0, 0),
            // It loses what it knows, and the other does not.
            _ => (sum, 0),
        };
        expect("what they know", FRONT.add(0), Ok((left.0, left.1 + 1)));
        expect("the content", FRONT.kinds(), Ok((kinds::GOOD, kinds::GOOD)));
        expect("then it is", replace("counter", "good"), Ok(()));
        expect("and knows it", FRONT.add(0), Ok((left.0, left.1 + 2)));
    }
    say!("ok: a fellow that keeps, loses or refuses its state");
}

/// Waits in the one until it is woken; which content it has then, or 0.
fn wait(_: u64) {
    WOKEN.store(COUNTER.wait().unwrap_or(0), Relaxed);
}

/// The one has called its callers home, and the other does not: those of the one wait again.
fn staying() {
    expect("misbehave", FRONT.misbehave(misbehaves::STAYS), Ok(()));
    let waiting = spawn(THREADS, &BESIDE, wait, 0, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    expect("it is not replaced", replace("counter", "other"), Err(Error::NotAllowed));
    // Who is not to wait calls again and again, and gives up.
    let _ = THREADS.sleep_until(time::now() + time::ticks(200_000));
    expect("wake", COUNTER.wake(), Ok(()));
    let _ = waiting.join();
    expect("it is woken", WOKEN.load(Relaxed), kinds::GOOD);
    expect("it behaves", FRONT.misbehave(0), Ok(()));
    say!("ok: a fellow that does not call its callers home");
}

/// Their life has not ended when the time is over: they come back as they were.
fn lingering() {
    let (sum, asked) = FRONT.add(1).unwrap_or((0, 0));
    expect("misbehave", FRONT.misbehave(misbehaves::LINGERS), Ok(()));
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    expect("it is not replaced", replace("counter", "other"), Err(Error::TimedOut));
    judge::wait_until(THREADS, || FRONT.kinds().is_ok());
    expect("both know what they knew", FRONT.add(0), Ok((sum, asked + 1)));
    say!("ok: a fellow whose thread does not come home");
}

fn under_load() {
    let (first, asked) = FRONT.add(0).unwrap_or((0, 0));
    let callers = [30, 55, 90];
    let threads: [_; CALLERS] = core::array::from_fn(|place| {
        spawn(THREADS, &STACKS[place], call, place as u64, callers[place]).expect("a thread")
    });
    let turns = [
        ("counter", "other"),
        ("front", "front2"),
        ("counter", "large"),
        ("front", "front1"),
        ("counter", "good"),
    ];
    for round in 0..arguments::rounds() {
        let (name, package) = turns[round as usize % turns.len()];
        if replace(name, package).is_err() {
            expect("a replacement under load", round, u64::MAX);
        }
        if round % 16 == 0 {
            expect("refused under load", replace("front", "front-refuses").is_err(), true);
        }
    }
    // Who is inside of the one, by the other, has its time; then the old goes on.
    let staying = spawn(THREADS, &BESIDE, stay, 50, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    expect("a call that comes back", replace("counter", "good"), Ok(()));
    let _ = staying.join();
    let staying = spawn(THREADS, &BESIDE, stay, 400, 60).expect("a thread");
    let _ = THREADS.sleep_until(time::now() + time::ticks(5_000));
    expect("a call that does not", replace("counter", "good"), Err(Error::TimedOut));
    STOP.store(1, Relaxed);
    for thread in threads {
        let _ = thread.join();
    }
    let _ = staying.join();
    let added: u64 = ADDED.iter().map(|one| one.load(Relaxed)).sum();
    let asked = asked + ASKED.load(Relaxed) + 1;
    expect("no call is lost", LOST.load(Relaxed), 0);
    expect("none is counted twice", FRONT.add(0), Ok((first + added, asked)));
    expect("all were busy", ADDED.iter().all(|one| one.load(Relaxed) > arguments::rounds()), true);
    say!("ok: no call is lost");
}

/// Replaces once, whatever becomes of it.
fn replace_once(name: u64) {
    let (name, package) = if name == 0 { ("counter", "other") } else { ("front", "front2") };
    let _ = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS);
}

/// Who has it done, or what is replaced, or who ends with it, is killed at some instant of it. Calls may fail then, and state may be lost; but nothing else is.
fn disturbed() {
    let answers = || judge::wait_until(THREADS, || FRONT.kinds().is_ok());
    let replaces = || {
        for (name, package) in [("counter", "good"), ("front", "front1")] {
            judge::wait_until(THREADS, || {
                REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS).is_ok()
            });
        }
    };
    replaces();
    let before = MEMORY.usage();
    for victim in ["loader", "counter", "front"] {
        for round in 0..arguments::rounds() / 4 {
            let once = spawn(THREADS, &BESIDE, replace_once, round % 2, 94).expect("a thread");
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
    refused();
    misbehaving();
    staying();
    lingering();
    under_load();
    disturbed();
    say!("replaced fellows: done");
    let _ = SUPERVISOR.halt(0);
}
