//! The low one holds a lock, the high one waits for it, the middle one spins: without inheritance the
//! high one would wait for the middle one.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::{Thread, spawn};
use cairn_test_hostile_contract::say;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

cairn::component! {
    name: "inherit-three",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
    },
    main: main,
}

/// Priorities; this thread has a higher one.
const LOW: u8 = 10;
const BETWEEN: u8 = 20;
const MIDDLE: u8 = 30;
/// How long the low one works while it holds the lock.
const WORK_MICROSECONDS: u64 = 500;
/// What waiting may take beside that work: a few switches, and rounds of the timer.
const SLACK_MICROSECONDS: u64 = 100;
/// The middle one gives up after this, so that a failure is seen as one.
const SPIN_MICROSECONDS: u64 = 50_000;

static FIRST: Mutex<u64> = Mutex::new(0);
static SECOND: Mutex<u64> = Mutex::new(0);
static HELD: AtomicBool = AtomicBool::new(false);
static DONE: AtomicBool = AtomicBool::new(false);
static STACKS: [Stack<8192>; 3] = [const { Stack::new() }; 3];

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(counter() + ticks(microseconds)).expect("sleep");
}

fn start(stack: usize, body: fn(u64), priority: u8) -> Thread {
    spawn(imports::THREADS, &STACKS[stack], body, 0, priority).expect("spawn")
}

/// Works as long as it is executed itself, not as time passes.
fn work(lock: &Mutex<u64>) {
    let mut held = lock.lock().expect("lock");
    HELD.store(true, Relaxed);
    let begin = imports::THREADS.time_used().expect("time");
    while imports::THREADS.time_used().expect("time") - begin < ticks(WORK_MICROSECONDS) {}
    *held += 1;
}

/// Holds the second lock and waits for the first.
fn between(_: u64) {
    let mut second = SECOND.lock().expect("second");
    HELD.store(true, Relaxed);
    *second += *FIRST.lock().expect("first");
}

fn spin(_: u64) {
    let end = counter() + ticks(SPIN_MICROSECONDS);
    while !DONE.load(Relaxed) && counter() < end {
        core::hint::spin_loop();
    }
}

/// Waits until somebody says that it holds its lock.
fn wait_until_held() {
    while !HELD.swap(false, Relaxed) {
        pause(50);
    }
}

/// The middle one spins; how long it takes to get `lock`.
fn measure(lock: &Mutex<u64>) -> u64 {
    let middle = start(2, spin, MIDDLE);
    pause(50);
    let begin = counter();
    let count = *lock.lock().expect("lock");
    let waited = counter() - begin;
    assert_eq!(count, 1, "who held it did not finish");
    DONE.store(true, Relaxed);
    middle.join().expect("join");
    DONE.store(false, Relaxed);
    waited
}

fn check(name: &str, waited: u64) {
    let most = ticks(WORK_MICROSECONDS + SLACK_MICROSECONDS);
    if waited < most {
        say!("ok: {name}, after {waited} of at most {most} ticks");
    } else {
        say!("FAILED: {name}, after {waited} ticks");
    }
}

fn main() {
    let low = start(0, |_| work(&FIRST), LOW);
    wait_until_held();
    check("the high one gets the lock of the low one", measure(&FIRST));
    low.join().expect("join");

    // The low one holds the first lock; between waits for it with the second; the high one wants that.
    *FIRST.lock().expect("lock") = 0;
    let low = start(0, |_| work(&FIRST), LOW);
    wait_until_held();
    let other = start(1, between, BETWEEN);
    wait_until_held();
    check("the high one gets a lock whose holder waits for the low one", measure(&SECOND));
    low.join().expect("join");
    other.join().expect("join");
    let _ = imports::SUPERVISOR.halt(0);
}
