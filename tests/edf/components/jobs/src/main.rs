//! Periodic jobs that fill the processor so far that fixed priorities would be late: under earliest
//! deadline first, none is.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[path = "../../../../scheduler/components/exercise/src/order.rs"]
mod order;
#[path = "../../../../scheduler/components/exercise/src/report.rs"]
mod report;

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces::{Deadlines, Threads, spawn};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use order::Order;
use report::{check, end};

cairn::component! {
    name: "jobs",
    imports: { threads: Threads, deadlines: Deadlines },
    main: main,
}

/// What a thread does; times in microseconds.
struct Task {
    letter: u8,
    period: u64,
    cost: u64,
    jobs: u64,
}

/// As many threads do each of these.
const THREADS: usize = 5;
/// Shares of the processor: 5 times 0.086, and 5 times 0.087. The instance has all of the time, and each of its 11 threads an
/// equal part, 0.09. With fixed priorities in order of the periods, the second task would need 5 * 0.61 + 2 * 5 * 0.43 ms of its
/// 7 for the first jobs.
const TASKS: [Task; 2] = [
    Task { letter: b'a', period: 5_000, cost: 430, jobs: 14 },
    Task { letter: b'b', period: 7_000, cost: 610, jobs: 10 },
];

static STACKS: [Stack<4096>; TASKS.len() * THREADS] =
    [const { Stack::new() }; TASKS.len() * THREADS];
static ORDER: Order = Order::new();
/// When all first jobs begin.
static START: AtomicU64 = AtomicU64::new(0);
static ON_TIME: AtomicUsize = AtomicUsize::new(0);

fn main() {
    check("deadlines", deadlines());
    check("shortest period", shortest_period());
    end();
}

fn deadlines() -> Result<bool, Error> {
    START.store(counter() + ticks(20_000), Relaxed);
    let mut threads = [None; TASKS.len() * THREADS];
    for (number, thread) in threads.iter_mut().enumerate() {
        // The less their priorities say, the shorter the periods: only deadlines count.
        let priority = 10 + 10 * (number / THREADS) as u8;
        let number = number as u64;
        *thread = Some(spawn(imports::THREADS, &STACKS[number as usize], work, number, priority)?);
    }
    for thread in threads.into_iter().flatten() {
        thread.join()?;
    }
    // Of the jobs that begin together, those with the earliest deadline are done first.
    let order = ORDER.take();
    let jobs: u64 = TASKS.iter().map(|task| task.jobs * THREADS as u64).sum();
    Ok(order == *b"ab\0\0\0\0\0\0" && ON_TIME.load(Relaxed) == jobs as usize)
}

fn work(number: u64) {
    let number = number as usize;
    let _ = jobs(&TASKS[number / THREADS], number.is_multiple_of(THREADS));
}

fn jobs(task: &Task, leaves_mark: bool) -> Result<(), Error> {
    let period = ticks(task.period);
    imports::DEADLINES.set_period(imports::THREADS.own_name()?, period)?;
    let mut release = START.load(Relaxed);
    for job in 0..task.jobs {
        imports::THREADS.sleep_until(release)?;
        let begin = imports::THREADS.time_used()?;
        while imports::THREADS.time_used()? - begin < ticks(task.cost) {}
        if counter() <= release + period {
            ON_TIME.fetch_add(1, Relaxed);
        }
        if job == 0 && leaves_mark {
            ORDER.push(task.letter);
        }
        release += period;
    }
    Ok(())
}

/// A domain cannot give its threads a period shorter than its highest priority means: its deadline
/// would come before everybody's.
fn shortest_period() -> Result<bool, Error> {
    let own = imports::THREADS.own_name()?;
    imports::DEADLINES.set_period(own, 0)?;
    let nobody = imports::DEADLINES.set_period(15, ticks(5_000)) == Err(Error::NotFound);
    // This thread has 5 ms now: one of 6 ms waits for it. One that also gets 5 ms, and got them before
    // this thread begins its next job, goes first; with a period of zero this thread would.
    let thread = spawn(imports::THREADS, &STACKS[0], leave_mark, b'y'.into(), 10)?;
    imports::DEADLINES.set_period(thread.name(), ticks(6_000))?;
    ORDER.push(b'x');
    thread.join()?;
    // Until then a new thread would pay for what those that have ended ran.
    imports::THREADS.sleep_until(counter() + ticks(20_000))?;
    let early = spawn(imports::THREADS, &STACKS[0], leave_mark, b'p'.into(), 10)?;
    imports::DEADLINES.set_period(early.name(), 0)?;
    let begin = counter();
    while counter() < begin + ticks(100) {}
    imports::DEADLINES.set_period(own, 0)?;
    ORDER.push(b'q');
    early.join()?;
    Ok(nobody && ORDER.take() == *b"xypq\0\0\0\0")
}

fn leave_mark(letter: u64) {
    ORDER.push(letter as u8);
}
