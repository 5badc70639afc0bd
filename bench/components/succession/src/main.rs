//! Measures how long a client waits at most while the scheduler gives way to another, with 50 threads, and for how long interrupts are off then.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::{Cost, Mark, Stamp, unused_mark};
use cairn::sync::{Mutex, Semaphore};
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_bench::{Loaded, Meter, Report, Rounds, Samples};
use cairn_interfaces::{Console, Portals, Replacement, Threads, spawn};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

cairn::component! {
    name: "succession",
    imports: {
        console: Console,
        replacement: Replacement,
        portals: Portals,
        threads: Threads,
        called: Loaded,
    },
    main: main,
}

const WARM_UP: usize = 2;
const ROUNDS: usize = 20;
/// A round takes as long as many calls.
const WEIGHT: usize = 100;
/// Of the thread that calls, above all that is done for a replacement: it calls at every instant of that.
const CALLER_PRIORITY: u8 = 250;
/// Between two of its calls.
const BETWEEN_MICROSECONDS: u64 = 20;
/// Threads beside it and this one, and their priority.
const OTHERS: usize = 48;
const OTHERS_PRIORITY: u8 = 30;
/// Ticks over which it is measured what one is.
const TICKS: u64 = 1000;

/// Places of what one exchange costs.
const PAUSE: usize = 0;
const INTERRUPTS_OFF: usize = 1;

static STACK: Stack<8192> = Stack::new();
static OTHER_STACKS: [Stack<4096>; OTHERS] = [const { Stack::new() }; OTHERS];
static EVENT: Semaphore = Semaphore::new(0);
static HELD: Mutex<()> = Mutex::new(());
/// When the longest call began, and when it ended.
static LONGEST: [Mark; 2] = [const { unused_mark() }; 2];
static STOP: AtomicBool = AtomicBool::new(false);

/// Calls all the time.
fn call(_: u64) {
    while !STOP.load(Relaxed) {
        let begin = Stamp::begin();
        imports::CALLED.begun().expect("no call is lost");
        let end = Stamp::end();
        let [first, last] = LONGEST.each_ref().map(Stamp::load);
        if end.instructions - begin.instructions > last.instructions - first.instructions {
            begin.store(&LONGEST[0]);
            end.store(&LONGEST[1]);
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(BETWEEN_MICROSECONDS));
    }
}

/// Runs, waits for an event that many wait for, for a lock or for a time, as its number says, until the end.
fn be(number: u64) {
    while !STOP.load(Relaxed) {
        let done = match number % 4 {
            0 => imports::THREADS.sleep_until(now() + ticks(500 + 10 * number)),
            1 => EVENT.acquire(),
            2 => {
                let until = || now() + ticks(100);
                HELD.lock().and_then(|_held| imports::THREADS.sleep_until(until()))
            }
            _ => imports::THREADS.yield_now(),
        };
        done.expect("it goes on");
    }
    // Whoever waits behind this one.
    EVENT.release().expect("it is there");
}

/// The scheduler gives way to that of a package: the longest call meanwhile, and for how long interrupts were off, in whole ticks.
fn succeed(meter: &Meter, package: &str) -> [Cost; 2] {
    LONGEST.iter().for_each(|mark| Stamp { cycles: 0, instructions: 0 }.store(mark));
    let off = imports::REPLACEMENT.replace("scheduler", package, 1000).expect("it takes over");
    let _ = imports::THREADS.sleep_until(now() + ticks(BETWEEN_MICROSECONDS * 10));
    let [begin, end] = LONGEST.each_ref().map(Stamp::load);
    [meter.since(begin, end), cost_of(off)]
}

/// What so many ticks are.
fn cost_of(ticks: u64) -> Cost {
    let before = now();
    while now() == before {}
    let (begin, first) = (Stamp::begin(), now());
    while now() < first + TICKS {}
    // Others may have run meanwhile.
    let (cost, passed) = (Stamp::begin() - begin, (now() - first) as i64);
    let of = |counts: i64| counts * ticks as i64 / passed;
    Cost { instructions: of(cost.instructions), cycles: of(cost.cycles) }
}

fn main() {
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    let caller = spawn(imports::THREADS, &STACK, call, 0, CALLER_PRIORITY).expect("a thread");
    let others: [_; OTHERS] = core::array::from_fn(|number| {
        let stack = &OTHER_STACKS[number];
        spawn(imports::THREADS, stack, be, number as u64, OTHERS_PRIORITY).expect("a thread")
    });
    // To deadlines and back: one of the two is counted.
    let exchanges = |which: usize, to_deadlines: bool, samples: &mut Samples| {
        for round in rounds.all() {
            let there = succeed(&meter, "deadlines")[which];
            let back = succeed(&meter, "fixed")[which];
            if rounds.counts(round) {
                samples.add(if to_deadlines { there } else { back });
            }
        }
    };
    report.samples(format_args!("replace.scheduler.pause"), 1, |samples| {
        exchanges(PAUSE, false, samples);
    });
    report.samples(format_args!("replace.scheduler.interrupts_off"), 1, |samples| {
        exchanges(INTERRUPTS_OFF, false, samples);
    });
    report.samples(format_args!("replace.scheduler.interrupts_off.deadlines"), 1, |samples| {
        exchanges(INTERRUPTS_OFF, true, samples);
    });
    STOP.store(true, Relaxed);
    EVENT.release().expect("it is there");
    others.into_iter().chain([caller]).for_each(|thread| _ = thread.join());
    report.end();
}
