//! Periodic jobs that fill the processor so far that fixed priorities would be late: under earliest
//! deadline first, none is.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[path = "../../../../scheduler/components/exercise/src/report.rs"]
mod report;

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces::{Deadlines, Threads, spawn};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use report::{Order, check, end};

cairn::component! {
    name: "jobs",
    imports: { threads: Threads, deadlines: Deadlines },
    main: main,
}

/// A thread that does periodic jobs; times in microseconds.
struct Task {
    letter: u8,
    period: u64,
    cost: u64,
    jobs: u64,
    /// The less it says, the shorter the period: only deadlines count.
    priority: u8,
}

/// Shares of the processor: 0.40 and 0.55, and a single job in what is left. With fixed priorities in
/// order of the periods, the second would need 3.9 + 2 * 2 ms of its 7 for its first job.
const TASKS: [Task; 3] = [
    Task { letter: b'a', period: 5_000, cost: 2_000, jobs: 14, priority: 10 },
    Task { letter: b'b', period: 7_000, cost: 3_900, jobs: 10, priority: 20 },
    Task { letter: b'c', period: 60_000, cost: 1_000, jobs: 1, priority: 30 },
];

static STACKS: [Stack<4096>; TASKS.len()] = [const { Stack::new() }; TASKS.len()];
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
    let mut threads = [None; TASKS.len()];
    for (number, task) in TASKS.iter().enumerate() {
        let thread = spawn(imports::THREADS, &STACKS[number], work, number as u64, task.priority)?;
        threads[number] = Some(thread);
    }
    for thread in threads.into_iter().flatten() {
        thread.join()?;
    }
    // Of the jobs that begin together, the one with the earliest deadline is done first.
    let order = ORDER.take();
    let jobs: u64 = TASKS.iter().map(|task| task.jobs).sum();
    Ok(order == *b"abc\0\0\0\0\0" && ON_TIME.load(Relaxed) == jobs as usize)
}

fn work(number: u64) {
    let _ = jobs(&TASKS[number as usize]);
}

fn jobs(task: &Task) -> Result<(), Error> {
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
        if job == 0 {
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
