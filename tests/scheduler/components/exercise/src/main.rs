//! Exercises the scheduler from one domain: who runs when, who is refused what.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod order;
mod report;

use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn::{Error, environment};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{SchedulerObjects, SemaphoreProxy, Thread, Threads, spawn};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use order::Order;
use report::{check, end};

cairn::component! {
    name: "exercise",
    imports: { threads: Threads, objects: SchedulerObjects, slow: Echo },
    main: main,
}

/// The priority of this component: no thread of it gets a higher one.
const HIGHEST: u8 = 100;
/// The quota of threads, the first one included.
const THREADS: usize = 5;
const MILLISECOND: u64 = 1000;

static STACKS: [Stack<4096>; THREADS] = [const { Stack::new() }; THREADS];
static ORDER: Order = Order::new();

fn main() {
    check("preemption", preemption());
    check("round robin", round_robin());
    check("sleep order", sleep_order());
    check("spawn and join", spawn_and_join());
    check("priority limits", priority_limits());
    check("quotas", quotas());
    check("timed p", timed_p());
    check("semaphore order", semaphore_order());
    check("a turn of who was woken", woken_equal());
    check("one activation, several callers", one_activation());
    end();
}

fn start(stack: usize, function: fn(u64), argument: u64, priority: u8) -> Result<Thread, Error> {
    spawn(imports::THREADS, &STACKS[stack], function, argument, priority)
}

/// The semaphore of a device that nobody uses.
fn semaphore() -> SemaphoreProxy {
    let device =
        environment::device(2).expect("the description gives this instance a third device");
    SemaphoreProxy::at(device.interrupt_portal().expect("with an interrupt"))
}

fn own_priority(priority: u8) -> Result<(), Error> {
    imports::THREADS.set_priority(imports::THREADS.own_name()?, priority)
}

fn mark(letter: u64) {
    ORDER.push(letter as u8);
}

fn preemption() -> Result<bool, Error> {
    own_priority(50)?;
    mark(b'a'.into());
    let higher = start(0, mark, b'b'.into(), 80)?;
    mark(b'c'.into());
    let lower = start(1, mark, b'e'.into(), 20)?;
    mark(b'd'.into());
    lower.join()?;
    higher.join()?;
    // A thread that is raised above the running one runs at once.
    let raised = start(0, mark, b'g'.into(), 20)?;
    mark(b'f'.into());
    raised.set_priority(60)?;
    mark(b'h'.into());
    raised.join()?;
    own_priority(HIGHEST)?;
    Ok(ORDER.take() == *b"abcdefgh")
}

static STOP: AtomicU64 = AtomicU64::new(0);
static SHARES: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn spin(number: u64) {
    while STOP.load(Relaxed) == 0 {}
    SHARES[number as usize].store(imports::THREADS.time_used().unwrap_or(0), Relaxed);
}

fn round_robin() -> Result<bool, Error> {
    let quantum = ticks(10 * MILLISECOND);
    let threads = [start(0, spin, 0, 40)?, start(1, spin, 1, 40)?];
    imports::THREADS.sleep_until(counter() + 6 * quantum)?;
    STOP.store(1, Relaxed);
    for thread in threads {
        thread.join()?;
    }
    let (first, second) = (SHARES[0].load(Relaxed), SHARES[1].load(Relaxed));
    Ok(first + second >= 5 * quantum && first.abs_diff(second) <= quantum + quantum / 10)
}

static ALARM: AtomicU64 = AtomicU64::new(0);

fn sleep_and_mark(milliseconds: u64) {
    let time = ALARM.load(Relaxed) + ticks(milliseconds * MILLISECOND);
    if imports::THREADS.sleep_until(time).is_ok() && counter() >= time {
        mark(b'0' as u64 + milliseconds);
    }
}

fn sleep_order() -> Result<bool, Error> {
    ALARM.store(counter(), Relaxed);
    let delays = [3, 1, 4, 2];
    for (stack, delay) in delays.into_iter().enumerate() {
        let _ = start(stack, sleep_and_mark, delay, 60)?;
    }
    imports::THREADS.sleep_until(counter() + ticks(8 * MILLISECOND))?;
    Ok(ORDER.take() == *b"1234\0\0\0\0")
}

fn spawn_and_join() -> Result<bool, Error> {
    let thread = start(0, mark, b'x'.into(), 10)?;
    let busy = start(0, mark, b'y'.into(), 10).err() == Some(Error::Busy);
    thread.join()?;
    // The name is never used again; that it has ended is known for good.
    let again = imports::THREADS.join(thread.name()) == Ok(());
    let unknown = imports::THREADS.join(thread.name() + (1 << 8)) == Err(Error::NotFound);
    let own = imports::THREADS.join(imports::THREADS.own_name()?) == Err(Error::BadArgument);
    let next = start(0, mark, b'z'.into(), 10)?;
    let other_name = next.name() != thread.name();
    // The end of an earlier user does not free the stack under the present one.
    thread.join()?;
    let still_busy = start(0, mark, b'y'.into(), 10).err() == Some(Error::Busy);
    next.join()?;
    let order = ORDER.take() == *b"xz\0\0\0\0\0\0";
    Ok(busy && again && unknown && own && other_name && still_busy && order)
}

fn priority_limits() -> Result<bool, Error> {
    let above = own_priority(HIGHEST + 1) == Err(Error::NotAllowed);
    let spawned = start(0, mark, 0, HIGHEST + 1).err() == Some(Error::NotAllowed);
    // A refused thread leaves its stack free.
    start(0, mark, b'k'.into(), HIGHEST)?.join()?;
    let idle = imports::THREADS.set_priority(0, 5) == Err(Error::BadArgument);
    let nobody = imports::THREADS.set_priority(15, 5) == Err(Error::NotFound);
    Ok(above && spawned && idle && nobody && ORDER.take() == *b"k\0\0\0\0\0\0\0")
}

static TURNS: AtomicU64 = AtomicU64::new(0);

fn take_turns(count: u64) {
    for turn in 1..=count {
        let _ = semaphore().p();
        TURNS.store(turn, Relaxed);
    }
}

/// A thread that wakes an equal and never enters the scheduler again keeps the processor for a quantum at most: where no quanta
/// were marked, and where they are.
fn woken_equal() -> Result<bool, Error> {
    own_priority(50)?;
    let quantum = ticks(10 * MILLISECOND);
    let equal = start(0, take_turns, 2, 50)?;
    imports::THREADS.yield_now()?;
    let alone = counter() + 3 * quantum;
    while counter() < alone {}
    for turn in 1..=2 {
        semaphore().v()?;
        // The emulated time goes on while the host runs another program, and without its quantum the equal never runs.
        let limit = counter() + 200 * quantum;
        while TURNS.load(Relaxed) < turn {
            if counter() > limit {
                return Ok(false);
            }
        }
    }
    equal.join()?;
    own_priority(HIGHEST)?;
    Ok(true)
}

fn wait(_: u64) {
    let _ = semaphore().p();
}

fn quotas() -> Result<bool, Error> {
    let mut threads = [None; THREADS];
    for (stack, thread) in threads.iter_mut().take(THREADS - 1).enumerate() {
        *thread = Some(start(stack, wait, 0, 10)?);
    }
    let one_more = start(THREADS - 1, wait, 0, 10).err() == Some(Error::Exhausted);
    imports::THREADS.sleep_until(counter() + ticks(MILLISECOND))?;
    for _ in 1..THREADS {
        semaphore().v()?;
    }
    for thread in threads.into_iter().flatten() {
        thread.join()?;
    }
    let again = start(THREADS - 1, mark, b'q'.into(), 10)?.join().is_ok();
    // Semaphores too: the description gives this domain two beside its devices'.
    let own = cairn::environment::startup().instance;
    let first = imports::OBJECTS.allocate_semaphore(own, 0)?;
    let second = imports::OBJECTS.allocate_semaphore(own, 0)?;
    let third = imports::OBJECTS.allocate_semaphore(own, 0) == Err(Error::Exhausted);
    imports::OBJECTS.free_semaphore(own, first)?;
    imports::OBJECTS.free_semaphore(own, second)?;
    Ok(one_more && again && third && ORDER.take() == *b"q\0\0\0\0\0\0\0")
}

fn give(_: u64) {
    let _ = semaphore().v();
}

fn timed_p() -> Result<bool, Error> {
    let semaphore = semaphore();
    let nothing = semaphore.try_p() == Err(Error::WouldBlock);
    let limit = counter() + ticks(2 * MILLISECOND);
    let late = semaphore.p_until(limit) == Err(Error::TimedOut) && counter() >= limit;
    let past = semaphore.p_until(limit) == Err(Error::TimedOut);
    let giver = start(0, give, 0, 10)?;
    let limit = counter() + ticks(20 * MILLISECOND);
    let given = semaphore.p_until(limit) == Ok(()) && counter() < limit;
    giver.join()?;
    semaphore.v()?;
    Ok(nothing && late && past && given && semaphore.try_p() == Ok(()))
}

fn wait_and_mark(letter: u64) {
    if semaphore().p().is_ok() {
        mark(letter);
    }
}

fn semaphore_order() -> Result<bool, Error> {
    // Two of the lower priority wait first; the first of them was first.
    let waiting = [(b'b', 30), (b'c', 30), (b'a', 40)];
    for (stack, (letter, priority)) in waiting.into_iter().enumerate() {
        let _ = start(stack, wait_and_mark, letter.into(), priority)?;
        imports::THREADS.sleep_until(counter() + ticks(MILLISECOND))?;
    }
    for _ in waiting {
        semaphore().v()?;
        imports::THREADS.sleep_until(counter() + ticks(MILLISECOND))?;
    }
    Ok(ORDER.take() == *b"abc\0\0\0\0\0")
}

fn call(letter: u64) {
    let time = ticks(MILLISECOND);
    if imports::SLOW.add(time, letter) == Ok(letter) {
        mark(letter);
    }
}

/// The server has one activation for this client: the callers wait for it, in order of priority.
fn one_activation() -> Result<bool, Error> {
    let callers = [(b'a', 30), (b'c', 40), (b'b', 50), (b'd', 20)];
    let mut threads = [None; 4];
    for (stack, (letter, priority)) in callers.into_iter().enumerate() {
        threads[stack] = Some(start(stack, call, letter.into(), priority)?);
        if stack == 0 {
            // It has the activation before the others come.
            imports::THREADS.sleep_until(counter() + ticks(MILLISECOND / 10))?;
        }
    }
    for thread in threads.into_iter().flatten() {
        thread.join()?;
    }
    Ok(ORDER.take() == *b"abcd\0\0\0\0")
}
