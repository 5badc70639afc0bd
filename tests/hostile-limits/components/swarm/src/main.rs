//! As many threads as there are whose time limits end all at once, shortly before each millisecond; with the argument
//! `chain`, which hold locks and wait for one another's.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces::{LockProxy, Portals, SemaphoreProxy, Threads, spawn};
use cairn_test_hostile_contract::rounds;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

cairn::component! {
    name: "hostile-swarm",
    imports: { portals: Portals, threads: Threads },
    main: main,
}

const THREADS: usize = 230;
/// Locks in a chain: more than may be in one.
const LINKS: usize = 12;
/// Priorities of the threads.
const PRIORITIES: u64 = 64;

static STACKS: [Stack<4096>; THREADS] = [const { Stack::new() }; THREADS];
static WAIT: AtomicU32 = AtomicU32::new(0);
static LOCKS: [AtomicU32; LINKS] = [const { AtomicU32::new(0) }; LINKS];

fn beat(number: u64) {
    let (period, before) = (ticks(1_000), ticks(20));
    let semaphore = SemaphoreProxy::at(WAIT.load(Relaxed));
    loop {
        let limit = ((counter() + before) / period + 1) * period - before;
        if number.is_multiple_of(2) {
            let _ = imports::THREADS.sleep_until(limit);
        } else {
            let _ = semaphore.p_until(limit);
        }
        rounds::count();
    }
}

/// Holds a lock, and waits for that of the thread before, up to the first, which sleeps.
fn link(number: u64) {
    let lock = |number: usize| LockProxy::at(LOCKS[number % LINKS].load(Relaxed));
    let number = number as usize;
    loop {
        let _ = lock(number).lock();
        if number.is_multiple_of(LINKS) {
            let _ = imports::THREADS.sleep_until(counter() + ticks(100));
        } else {
            let _ = lock(number - 1).lock();
            let _ = lock(number - 1).unlock();
        }
        let _ = lock(number).unlock();
        rounds::count();
    }
}

fn main() {
    let first = |made: Result<u32, cairn::Error>| made.expect("the quota has room for it");
    let mut body: fn(u64) = beat;
    if environment::argument() == "chain" {
        body = link;
        for place in &LOCKS {
            place.store(first(imports::PORTALS.lock().map(|made| made.first_portal())), Relaxed);
        }
    }
    let semaphore = imports::PORTALS.semaphore(0).map(|made| made.first_portal());
    WAIT.store(first(semaphore), Relaxed);
    for (number, stack) in STACKS.iter().enumerate() {
        // In an order that no queue likes.
        let priority = rounds::priority(1 + (number as u64 * 37 % PRIORITIES) as u8);
        if spawn(imports::THREADS, stack, body, number as u64, priority).is_err() {
            break;
        }
    }
    let _ = imports::THREADS.sleep_until(u64::MAX);
}
