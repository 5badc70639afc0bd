//! Fifty threads run, wait, hold locks and have time limits, while the scheduler gives way to another again and again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::{Mutex, Semaphore};
use cairn::thread::Stack;
use cairn::time::{Instant, now, ticks};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;

cairn::component! {
    name: "succession-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::MemoryStatistics,
        statistics: interfaces::SchedulerStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, LOADER, MEMORY, REPLACEMENT, STATISTICS, SUPERVISOR, THREADS};

/// What a thread does, by its number.
const BODIES: [fn(usize); 6] = [gives, takes, holds, sleeps, limits, yields];
const COUNT: usize = 48;
/// Pairs of those that give and take.
const PAIRS: usize = COUNT / BODIES.len();

// Relaxed: counts.
static STACKS: [Stack<8192>; COUNT] = [const { Stack::new() }; COUNT];
static SHORT: Stack<8192> = Stack::new();
static DONE: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
static WRONG: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);
static GIVEN: [Semaphore; PAIRS] = [const { Semaphore::new(0) }; PAIRS];
static TAKEN: [Semaphore; PAIRS] = [const { Semaphore::new(0) }; PAIRS];
static NEVER: Semaphore = Semaphore::new(0);
/// Two counts that are equal whenever nobody holds the lock.
static HELD: [Mutex<[u64; 2]>; 3] = [const { Mutex::new([0; 2]) }; 3];

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn pause(microseconds: u64) {
    let _ = THREADS.sleep_until(now() + ticks(microseconds));
}

fn wrong(is: bool) {
    WRONG.fetch_add(is.into(), Relaxed);
}

/// Gives one, and waits until it was taken: nothing is given or taken twice.
fn gives(pair: usize) {
    wrong(GIVEN[pair].release().is_err());
    wrong(TAKEN[pair].acquire().is_err());
    pause(100 * pair as u64);
}

fn takes(pair: usize) {
    wrong(GIVEN[pair].acquire().is_err());
    wrong(TAKEN[pair].release().is_err());
}

/// Holds one or two locks, in which it lets others run.
fn holds(number: usize) {
    let (first, second) = (number % 3, (number / 3) % 3);
    let Ok(mut held) = HELD[first].lock() else { return wrong(true) };
    held[0] += 1;
    if first < second {
        pause(20);
        match HELD[second].lock() {
            Ok(mut other) => {
                other[0] += 1;
                pause(20);
                other[1] += 1;
            }
            Err(_) => wrong(true),
        }
    } else {
        let _ = THREADS.yield_now();
    }
    wrong(held[0] != held[1] + 1);
    held[1] += 1;
    drop(held);
    pause(300);
}

fn sleeps(number: usize) {
    let until = now() + ticks(100 + 37 * number as u64);
    wrong(THREADS.sleep_until(until).is_err());
    wrong(now() < until);
}

/// Waits for what never comes.
fn limits(number: usize) {
    let until = Instant::now() + Duration::from_micros(150 + 41 * number as u64);
    wrong(NEVER.acquire_before(until) != Err(Error::TimedOut));
    wrong(Instant::now() < until);
}

fn yields(_: usize) {
    wrong(THREADS.yield_now().is_err());
    pause(250);
}

fn body(number: u64) {
    let number = number as usize;
    while STOP.load(Relaxed) == 0 {
        BODIES[number % BODIES.len()](number / BODIES.len());
        DONE[number].fetch_add(1, Relaxed);
    }
    // Whoever waits for this one's turn comes to the end too.
    let pair = number / BODIES.len();
    for semaphore in [&GIVEN[pair], &TAKEN[pair]] {
        wrong(semaphore.release().is_err());
    }
}

fn short(_: u64) {
    pause(50);
}

fn succeed(package: &str) -> Result<u64, Error> {
    let done = REPLACEMENT.replace("scheduler", package, 2000);
    if let Err(error) = done {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("{package}: {error:?}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    done
}

/// Exchanges once, whatever becomes of it.
fn succeed_once(package: u64) {
    let package = ["deadlines", "fixed"][package as usize % 2];
    let _ = REPLACEMENT.replace("scheduler", package, 2000);
}

/// Who asks for it is killed at some instant of it, or who does it: it is done, or it is not, and nothing is kept of the other.
fn disturbed() {
    let before = MEMORY.usage();
    for round in 0..arguments::rounds() {
        let once = spawn(THREADS, &SHORT, succeed_once, round, 94).expect("a thread");
        pause(233 * round % 5000);
        wrong(SUPERVISOR.restart("loader").is_err());
        let _ = once.join();
        wrong(!judge::wait_until(THREADS, || {
            REPLACEMENT.replace("scheduler", "fixed", 2000).is_ok()
        }));
    }
    expect("nothing is kept of what was cut short", MEMORY.usage(), before);
}

fn main() {
    // Before anything waits, and while nothing else runs: what is taken comes back.
    expect("once", succeed("fixed").is_ok(), true);
    let before = MEMORY.usage();
    expect("deadlines", succeed("deadlines").is_ok(), true);
    expect("and back", succeed("fixed").is_ok(), true);
    expect("nothing is kept", MEMORY.usage(), before);
    expect("no scheduler", succeed("stranger").map(drop), Err(Error::VersionMismatch));
    expect(
        "another is none",
        REPLACEMENT.replace("interrupts", "fixed", 100).map(drop),
        Err(Error::VersionMismatch),
    );
    let priority = |number: usize| 20 + (number * 29 % 70) as u8;
    let threads: [_; COUNT] = core::array::from_fn(|number| {
        spawn(THREADS, &STACKS[number], body, number as u64, priority(number)).expect("a thread")
    });
    let mut longest = [0, 0];
    for round in 0..arguments::rounds() {
        let seen = DONE.each_ref().map(|done| done.load(Relaxed));
        let other = round as usize % 2;
        match succeed(["deadlines", "fixed"][other]) {
            Ok(off) => longest[other] = off.max(longest[other]),
            Err(error) => expect("under load", Err(error), Ok(round)),
        }
        // A thread that ends and one that waits for that.
        let joined = spawn(THREADS, &SHORT, short, 0, 80).and_then(|thread| thread.join());
        wrong(joined.is_err());
        let all_go_on = judge::wait_until(THREADS, || {
            DONE.iter().zip(seen).all(|(done, before)| done.load(Relaxed) > before)
        });
        if !all_go_on {
            let stuck = DONE.iter().zip(seen).position(|(done, seen)| done.load(Relaxed) == seen);
            expect("all go on", stuck, None);
            break;
        }
        // Priorities are what they were, whichever scheduler it is.
        let is_kept = |number: &usize| {
            let index = threads[*number].name() & 0xff;
            STATISTICS.thread(index).is_ok_and(|thread| thread.priority == priority(*number))
        };
        wrong(!(0..COUNT).all(|number| is_kept(&number)));
    }
    say!("succession: interrupts were off for {longest:?} ticks at most");
    STOP.store(1, Relaxed);
    for thread in threads {
        wrong(thread.join().is_err());
    }
    expect("nothing was wrong", WRONG.load(Relaxed), 0);
    for held in &HELD {
        let counts = held.lock().map(|held| held[0] == held[1]);
        expect("locks were held by one", counts, Ok(true));
    }
    disturbed();
    expect("nothing was wrong", WRONG.load(Relaxed), 0);
    say!("succession: done");
    let _ = SUPERVISOR.halt(0);
}
