//! Many threads of one component that all do at once what keeps a scheduler busy: time limits that end
//! at the same tick, waiters of one semaphore that leave from the middle of its queue, changes of
//! priority among them, an end while all wait; or budgets of the processor that all use up.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces::{LockProxy, Portals, SemaphoreProxy, Supervisor, Thread, Threads, spawn};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "swarm",
    imports: { portals: Portals, threads: Threads, supervisor: Supervisor },
    main: main,
}

const THREADS: usize = 230;
const LOCKS: usize = 4;
/// Priorities of the threads, all below that of the first.
const PRIORITIES: u64 = 64;

static STACKS: [Stack<4096>; THREADS] = [const { Stack::new() }; THREADS];
static WAIT: AtomicU32 = AtomicU32::new(0);
static HELD: [AtomicU32; LOCKS] = [const { AtomicU32::new(0) }; LOCKS];
static LIMIT: AtomicU64 = AtomicU64::new(0);
static LEAVES: AtomicBool = AtomicBool::new(false);

/// Waits for the semaphore, up to the time that is said, again and again.
fn wait(number: u64) {
    let semaphore = SemaphoreProxy::at(WAIT.load(Relaxed));
    while !LEAVES.load(Relaxed) {
        // Some sleep, so that both kinds of limits end.
        let limit = LIMIT.load(Relaxed);
        if number.is_multiple_of(3) {
            let _ = imports::THREADS.sleep_until(limit);
        } else {
            let _ = semaphore.p_until(limit);
        }
    }
}

/// Holds a lock, or waits for one of another.
fn hold(number: u64) {
    for place in &HELD {
        let _ = LockProxy::at(place.load(Relaxed)).lock();
    }
    wait(number);
}

/// Uses the processor up, with a lock that others wait for and without.
fn use_up(_: u64) {
    loop {
        for place in &HELD {
            let lock = LockProxy::at(place.load(Relaxed));
            let _ = lock.lock();
            for count in 0..2_000 {
                core::hint::black_box(count);
            }
            let _ = lock.unlock();
        }
    }
}

fn make_locks() {
    for place in &HELD {
        place.store(imports::PORTALS.lock().expect("quota").first_portal(), Relaxed);
    }
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(counter() + ticks(microseconds));
}

/// Priorities in an order that no queue likes.
fn priority(number: usize) -> u8 {
    1 + (number as u64 * 37 % PRIORITIES) as u8
}

fn start(body: fn(u64)) -> [Option<Thread>; THREADS] {
    let mut threads = [None; THREADS];
    for (number, thread) in threads.iter_mut().enumerate() {
        let stack = &STACKS[number];
        *thread = spawn(imports::THREADS, stack, body, number as u64, priority(number)).ok();
    }
    threads
}

fn main() {
    if environment::argument() == "budget" {
        make_locks();
        for number in 0..environment::startup().thread_limit as usize - 1 {
            let stack = &STACKS[number];
            spawn(imports::THREADS, stack, use_up, 0, priority(number)).expect("quota");
        }
        use_up(0);
    }
    WAIT.store(imports::PORTALS.semaphore(0).expect("quota").first_portal(), Relaxed);
    let far = counter() + ticks(1_000_000);
    LIMIT.store(far, Relaxed);
    if environment::argument() == "kill" {
        make_locks();
        start(hold);
        let _ = imports::THREADS.sleep_until(far);
        return;
    }
    let soon = counter() + ticks(3_000);
    LIMIT.store(soon, Relaxed);
    let threads = start(wait);
    // All limits end at one tick.
    let _ = imports::THREADS.sleep_until(soon - ticks(100));
    LIMIT.store(far, Relaxed);
    let _ = imports::THREADS.sleep_until(soon);
    pause(1_000);
    // Everybody waits again: the queue's order changes at its middle.
    for (number, thread) in threads.iter().enumerate() {
        let level = 1 + (number as u64 * 53 % PRIORITIES) as u8;
        let _ = thread.as_ref().map(|thread| thread.set_priority(level));
    }
    // Each V takes a limit back as well.
    let semaphore = SemaphoreProxy::at(WAIT.load(Relaxed));
    LEAVES.store(true, Relaxed);
    for _ in 0..THREADS {
        let _ = semaphore.v();
    }
    pause(1_000);
    let _ = imports::SUPERVISOR.halt(0);
}
