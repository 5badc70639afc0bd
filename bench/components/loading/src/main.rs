//! Measures how long it takes to load a package of 64 KiB, up to its first instruction, and to unload it, and for how long a client waits
//! while its server gets that content, or the scheduler gives way to another.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::{Cost, Mark, Stamp, unused_mark};
use cairn::sync::{Mutex, Semaphore};
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_bench::{Loaded, Meter, Report, Rounds, Samples};
use cairn_interfaces::{Console, Loader, Portals, Replacement, Threads, spawn};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

cairn::component! {
    name: "loading",
    imports: {
        console: Console,
        loader: Loader,
        replacement: Replacement,
        portals: Portals,
        threads: Threads,
        kept: Loaded,
    },
    main: main,
}

const WARM_UP: usize = 3;
const ROUNDS: usize = 30;
/// A round takes as long as many calls.
const WEIGHT: usize = 100;
const NAME: &str = "loaded";
/// Of the thread that calls what is replaced, above that of the one that has it replaced.
const CALLER_PRIORITY: u8 = 60;
/// Ticks over which it is measured what one is.
const TICKS: i64 = 1000;
/// Between two of its calls.
const BETWEEN_MICROSECONDS: u64 = 20;

/// Threads that wait, or could run, while the scheduler gives way to another.
const OTHERS: usize = 48;

static STACK: Stack<8192> = Stack::new();
static OTHER_STACKS: [Stack<4096>; OTHERS] = [const { Stack::new() }; OTHERS];
static EVENT: Semaphore = Semaphore::new(0);
static HELD: Mutex<()> = Mutex::new(());
/// When its longest call began, and when it ended.
static LONGEST: [Mark; 2] = [const { unused_mark() }; 2];
static STOP: AtomicBool = AtomicBool::new(false);

/// Calls what is replaced, all the time.
fn call(_: u64) {
    while !STOP.load(Relaxed) {
        let begin = Stamp::begin();
        imports::KEPT.begun().expect("no call is lost");
        let end = Stamp::end();
        let [first, last] = LONGEST.each_ref().map(Stamp::load);
        if end.instructions - begin.instructions > last.instructions - first.instructions {
            begin.store(&LONGEST[0]);
            end.store(&LONGEST[1]);
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(BETWEEN_MICROSECONDS));
    }
}

fn replace() -> [Stamp; 2] {
    LONGEST.iter().for_each(|mark| Stamp { cycles: 0, instructions: 0 }.store(mark));
    imports::REPLACEMENT.replace("kept", NAME, 1000).expect("it is replaced");
    // Who waited has its turn.
    let _ = imports::THREADS.sleep_until(now() + ticks(BETWEEN_MICROSECONDS * 10));
    LONGEST.each_ref().map(Stamp::load)
}

/// Runs, waits for an event that many wait for, for a lock or for a time, as its number says, until the end.
fn be(number: u64) {
    while !STOP.load(Relaxed) {
        let done = match number % 4 {
            0 => imports::THREADS.sleep_until(now() + ticks(500 + 10 * number)),
            1 => EVENT.acquire(),
            2 => HELD.lock().and_then(|_held| imports::THREADS.sleep_until(now() + ticks(100))),
            _ => imports::THREADS.yield_now(),
        };
        done.expect("it goes on");
    }
    // Whoever waits behind this one.
    EVENT.release().expect("it is there");
}

/// The scheduler gives way to another while 50 threads are there, of which one calls all the time: what its longest call took, and for how long interrupts were off, in
/// whole ticks.
fn succeed(meter: &Meter, package: &str) -> [Cost; 2] {
    LONGEST.iter().for_each(|mark| Stamp { cycles: 0, instructions: 0 }.store(mark));
    let off = imports::REPLACEMENT.replace("scheduler", package, 1000).expect("it takes over");
    let _ = imports::THREADS.sleep_until(now() + ticks(BETWEEN_MICROSECONDS * 10));
    let [begin, end] = LONGEST.each_ref().map(Stamp::load);
    let per_tick = per_tick();
    let off = Cost {
        instructions: off as i64 * per_tick.instructions / TICKS,
        cycles: off as i64 * per_tick.cycles / TICKS,
    };
    [meter.since(begin, end), off]
}

/// What [`TICKS`] ticks are.
fn per_tick() -> Cost {
    let edge = || {
        let before = now();
        while now() == before {}
        (Stamp::begin(), now())
    };
    let (begin, first) = edge();
    while now() < first + TICKS as u64 {}
    Stamp::begin() - begin
}

/// Samples of one of the two, of each second exchange: to fixed priorities, or from there to deadlines.
fn exchanges(
    meter: &Meter,
    rounds: Rounds,
    which: usize,
    to_deadlines: bool,
    samples: &mut Samples,
) {
    for round in rounds.all() {
        let there = succeed(meter, "deadlines")[which];
        let back = succeed(meter, "fixed")[which];
        if rounds.counts(round) {
            samples.add(if to_deadlines { there } else { back });
        }
    }
}

fn load() -> Stamp {
    imports::LOADER.load(NAME, NAME).expect("it is loaded");
    let opened = imports::PORTALS.open_object::<dyn Loaded>("loaded.loaded");
    let opened = opened.expect("it is open");
    let begun = loop {
        match opened.proxy().begun() {
            Ok((cycles, instructions)) if instructions != 0 => {
                break Stamp { cycles, instructions };
            }
            // Its first thread is as urgent as this one.
            _ => imports::THREADS.yield_now().expect("this one waits"),
        }
    };
    imports::PORTALS.close(opened.first_portal().into()).expect("it was open");
    begun
}

fn unload() {
    imports::LOADER.unload(NAME).expect("it is unloaded");
}

fn main() {
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    report.samples(format_args!("load.64k"), 1, |samples| {
        for round in rounds.all() {
            let begin = Stamp::begin();
            let begun = load();
            if rounds.counts(round) {
                samples.add(meter.since(begin, begun));
            }
            unload();
        }
    });
    report.samples(format_args!("unload"), 1, |samples| {
        for round in rounds.all() {
            load();
            let begin = Stamp::begin();
            unload();
            let end = Stamp::end();
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    report.samples(format_args!("replace.pause"), 1, |samples| {
        let caller = spawn(imports::THREADS, &STACK, call, 0, CALLER_PRIORITY).expect("a thread");
        for round in rounds.all() {
            let [begin, end] = replace();
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
        STOP.store(true, Relaxed);
        let _ = caller.join();
    });
    STOP.store(false, Relaxed);
    let caller = spawn(imports::THREADS, &STACK, call, 0, CALLER_PRIORITY).expect("a thread");
    let others: [_; OTHERS] = core::array::from_fn(|number| {
        spawn(imports::THREADS, &OTHER_STACKS[number], be, number as u64, 30).expect("a thread")
    });
    report.samples(format_args!("replace.scheduler.pause"), 1, |samples| {
        exchanges(&meter, rounds, 0, false, samples);
    });
    report.samples(format_args!("replace.scheduler.interrupts_off"), 1, |samples| {
        exchanges(&meter, rounds, 1, false, samples);
    });
    report.samples(format_args!("replace.scheduler.interrupts_off.deadlines"), 1, |samples| {
        exchanges(&meter, rounds, 1, true, samples);
    });
    STOP.store(true, Relaxed);
    EVENT.release().expect("it is there");
    others.into_iter().chain([caller]).for_each(|thread| _ = thread.join());
    report.end();
}
