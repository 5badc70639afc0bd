//! Waits at priority 200 for a lock whose owner waits for one of priority 20, right after it has changed the priorities
//! of 80 threads that wait for others' locks: each change is work that the scheduler leaves for later. One of priority 100
//! would run until the owners have inherited.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces::{
    Console, LockProxy, Portals, SemaphoreProxy, Supervisor, Thread, Threads, spawn,
};
use cairn_test_hostile_contract::say;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "inversion",
    imports: { console: Console, portals: Portals, threads: Threads, supervisor: Supervisor },
    main: main,
}

/// Threads that own a lock, and as many that wait for it.
const PAIRS: usize = 80;
const LOW: u8 = 10;
const ROUNDS: u64 = 50;
/// Until everybody is where the round begins.
const STEP_MICROSECONDS: u64 = 200;
/// As long as the inversion may last: the urgencies of two owners pass on in 3.
const LATENESS_MICROSECONDS: u64 = 5;

static STACKS: [Stack<4096>; 2 * PAIRS + 3] = [const { Stack::new() }; 2 * PAIRS + 3];
static LOCKS: [AtomicU32; PAIRS + 2] = [const { AtomicU32::new(0) }; PAIRS + 2];
/// Names of the threads that wait for a pair's lock: on a stack they would leave none of one in the kernel domain.
static WAITERS: [AtomicU64; PAIRS] = [const { AtomicU64::new(0) }; PAIRS];
static STARTS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
/// Threads of the pairs that have begun.
static BEGUN: AtomicU32 = AtomicU32::new(0);
/// The urgent thread waits, or is about to.
static WANTED: AtomicBool = AtomicBool::new(false);

fn lock(number: usize) -> LockProxy {
    LockProxy::at(LOCKS[number].load(Relaxed))
}

fn start(number: usize) -> SemaphoreProxy {
    SemaphoreProxy::at(STARTS[number].load(Relaxed))
}

fn sleep_for(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(counter() + ticks(microseconds));
}

/// Owns a lock for ever, or waits for it.
fn pair(number: u64) {
    BEGUN.fetch_add(1, Relaxed);
    let _ = lock(number as usize % PAIRS).lock();
    let _ = imports::THREADS.sleep_until(u64::MAX);
}

/// Owns the end of the chain, and gives it up as soon as it runs and somebody urgent wants it.
fn first(_: u64) {
    loop {
        let _ = start(0).p();
        let _ = lock(PAIRS).lock();
        while !WANTED.load(Relaxed) {
            core::hint::spin_loop();
        }
        let _ = lock(PAIRS).unlock();
    }
}

/// Owns what the urgent thread wants, and waits for the first.
fn second(_: u64) {
    loop {
        let _ = start(1).p();
        let _ = lock(PAIRS + 1).lock();
        let _ = lock(PAIRS).lock();
        let _ = lock(PAIRS).unlock();
        let _ = lock(PAIRS + 1).unlock();
    }
}

/// Would run all the time if nobody inherited.
fn middle(_: u64) {
    loop {
        let _ = start(2).p();
        while WANTED.load(Relaxed) {
            core::hint::spin_loop();
        }
    }
}

fn spawned(place: usize, body: fn(u64), priority: u8) -> Thread {
    spawn(imports::THREADS, &STACKS[place], body, place as u64, priority).expect("the quota")
}

fn main() {
    for place in &LOCKS {
        place.store(imports::PORTALS.lock().expect("quota").first_portal(), Relaxed);
    }
    for place in &STARTS {
        place.store(imports::PORTALS.semaphore(0).expect("quota").first_portal(), Relaxed);
    }
    for owner in 0..PAIRS {
        spawned(owner, pair, LOW);
    }
    for waiter in PAIRS..2 * PAIRS {
        let thread = spawned(waiter, pair, LOW);
        WAITERS[waiter - PAIRS].store(thread.name(), Relaxed);
    }
    spawned(2 * PAIRS, first, 20);
    spawned(2 * PAIRS + 1, second, 30);
    spawned(2 * PAIRS + 2, middle, 100);
    // Each waits as soon as the next one has begun.
    while BEGUN.load(Relaxed) < 2 * PAIRS as u32 {
        sleep_for(STEP_MICROSECONDS);
    }
    sleep_for(STEP_MICROSECONDS);
    let (mut latest, mut changes) = (0, 0);
    for round in 0..ROUNDS {
        for number in 0..2 {
            let _ = start(number).v();
            sleep_for(STEP_MICROSECONDS);
        }
        // Each change is left for later: this thread is more urgent than whom it concerns.
        for waiter in &WAITERS {
            let changed =
                imports::THREADS.set_priority(waiter.load(Relaxed), LOW + 1 + (round % 2) as u8);
            changes += u64::from(changed.is_ok());
        }
        WANTED.store(true, Relaxed);
        let _ = start(2).v();
        let before = counter();
        let _ = lock(PAIRS + 1).lock();
        latest = latest.max(counter() - before);
        WANTED.store(false, Relaxed);
        let _ = lock(PAIRS + 1).unlock();
    }
    let most = ticks(LATENESS_MICROSECONDS);
    let all = ROUNDS * PAIRS as u64;
    let is_in_time = latest <= most && changes == all;
    let word = if is_in_time { "ok" } else { "FAILED" };
    say!(
        "{word}: an urgent inversion, {latest} ticks late of at most {most}, beside {changes} changes of {all}"
    );
    let _ = imports::SUPERVISOR.halt((!is_in_time).into());
}
