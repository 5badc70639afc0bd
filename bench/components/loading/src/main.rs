//! Measures how long it takes to load a package of 64 KiB, up to its first instruction, and to unload it, and for how long a client waits
//! while its server is replaced: by that content, or, with their state, the console, the clock, and in place the managers; or while it moves.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::{Mark, Stamp, unused_mark};
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, InstanceId, environment};
use cairn_bench::{LOADED_NAME, Loaded, Meter, Report, Rounds, explained};
use cairn_interfaces::{
    Clock, Console, Loader, Location, MemoryStatistics, Names, Portals, Replacement, Supervisor,
    Threads, spawn,
};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

cairn::component! {
    name: "loading",
    imports: {
        console: Console,
        clock: Option<Clock>,
        loader: Loader,
        replacement: Replacement,
        portals: Portals,
        threads: Threads,
        kept: Option<Loaded>,
        moving: Option<Loaded>,
        visiting: Option<Loaded>,
        names: Option<Names>,
        statistics: Option<MemoryStatistics>,
        supervisor: Option<Supervisor>,
    },
    arguments: { in_place: bool = false, moves: bool = false },
    main: main,
}

const WARM_UP: usize = 3;
const ROUNDS: usize = 30;
/// A round takes as long as many calls.
const WEIGHT: usize = 100;
/// Of the thread that measures. What is loaded is as urgent.
const PRIORITY: u8 = 65;
/// Of the one that calls what is replaced, above all that is done for a replacement: it calls at every instant of that.
const CALLER_PRIORITY: u8 = 250;
/// Between two of its calls, at least, and up to three times as much: so little that it waits for as long as callers are held, whenever
/// in its time that begins.
const BETWEEN_MICROSECONDS: u64 = 1;
/// Behind a replacement, until whoever waited has its turn.
const TURN_MICROSECONDS: u64 = 200;

static STACKS: [Stack<16384>; 2] = [const { Stack::new() }; 2];
/// When its longest call began, and when it ended.
static LONGEST: [Mark; 2] = [const { unused_mark() }; 2];
static STOP: AtomicBool = AtomicBool::new(false);

/// What is replaced.
struct Replaced {
    benchmark: &'static str,
    instance: &'static str,
    by: Change,
    /// A call of it.
    call: fn() -> Result<(), Error>,
}

/// What becomes of it.
enum Change {
    /// The content of a package.
    Content(&'static str),
    /// Its place: the one where it is, for another.
    Place(Location, Location),
}

/// The first of those that are replaced in place, and of those that move.
const IN_PLACE: usize = 3;
const MOVES: usize = 8;

const REPLACED: [Replaced; 12] = [
    Replaced {
        benchmark: "replace.pause",
        instance: "kept",
        by: Change::Content(LOADED_NAME),
        call: || imports::KEPT.get().ok_or(Error::NotFound)?.begun().map(drop),
    },
    Replaced {
        benchmark: "replace.console.pause",
        instance: "console",
        by: Change::Content("console2"),
        call: || imports::CONSOLE.write(b""),
    },
    Replaced {
        benchmark: "replace.clock.pause",
        instance: "clock",
        by: Change::Content("clock2"),
        call: || imports::CLOCK.get().ok_or(Error::NotFound)?.uptime().map(drop),
    },
    Replaced {
        benchmark: "replace.names.pause",
        instance: "names",
        by: Change::Content("names2"),
        call: || imports::NAMES.get().ok_or(Error::NotFound)?.list(0, &mut [0; 64]).map(drop),
    },
    Replaced {
        benchmark: "replace.portals.pause",
        instance: "portals",
        by: Change::Content("portals2"),
        call: || imports::PORTALS.life(environment::startup().instance).map(drop),
    },
    Replaced {
        benchmark: "replace.memory.pause",
        instance: "memory",
        by: Change::Content("memory2"),
        call: || imports::STATISTICS.get().ok_or(Error::NotFound)?.usage().map(drop),
    },
    Replaced {
        benchmark: "replace.supervisor.pause",
        instance: "supervisor",
        by: Change::Content("supervisor2"),
        call: || {
            let supervisor = imports::SUPERVISOR.get().ok_or(Error::NotFound)?;
            supervisor.time_ended(environment::startup().instance).map(drop)
        },
    },
    Replaced {
        benchmark: "replace.loader.pause",
        instance: "loader",
        by: Change::Content("loader2"),
        call: || match imports::LOADER.begin(InstanceId(0)) {
            Err(Error::NotFound) => Ok(()),
            begun => begun,
        },
    },
    Replaced {
        benchmark: "move.kernel.pause",
        instance: "moving",
        by: Change::Place(Location::Domain, Location::Kernel),
        call: call_moving,
    },
    Replaced {
        benchmark: "move.domain.pause",
        instance: "moving",
        by: Change::Place(Location::Kernel, Location::Domain),
        call: call_moving,
    },
    Replaced {
        benchmark: "move.with.pause",
        instance: "visiting",
        by: Change::Place(Location::Domain, Location::With),
        call: call_visiting,
    },
    Replaced {
        benchmark: "move.home.pause",
        instance: "visiting",
        by: Change::Place(Location::With, Location::Domain),
        call: call_visiting,
    },
];

fn call_moving() -> Result<(), Error> {
    imports::MOVING.get().ok_or(Error::NotFound)?.begun().map(drop)
}

fn call_visiting() -> Result<(), Error> {
    imports::VISITING.get().ok_or(Error::NotFound)?.begun().map(drop)
}

/// Calls what is replaced, all the time.
fn call(replaced: u64) {
    let call = REPLACED[replaced as usize].call;
    for number in 0.. {
        if STOP.load(Relaxed) {
            return;
        }
        let begin = Stamp::begin();
        call().expect("no call is lost");
        let end = Stamp::end();
        let [first, last] = LONGEST.each_ref().map(Stamp::load);
        if end.instructions - begin.instructions > last.instructions - first.instructions {
            begin.store(&LONGEST[0]);
            end.store(&LONGEST[1]);
        }
        let _ = imports::THREADS.sleep_until(
            now() + ticks(BETWEEN_MICROSECONDS) + number % ticks(2 * BETWEEN_MICROSECONDS),
        );
    }
}

fn replace(replaced: &Replaced) -> [Stamp; 2] {
    LONGEST.iter().for_each(|mark| Stamp { cycles: 0, instructions: 0 }.store(mark));
    let done = match replaced.by {
        Change::Content(package) => imports::REPLACEMENT.replace(replaced.instance, package, 1000),
        Change::Place(_, Location::With) => {
            imports::REPLACEMENT.move_with(replaced.instance, "loading", 1000)
        }
        Change::Place(_, to) => imports::REPLACEMENT.move_to(replaced.instance, to, 1000),
    };
    explained(imports::LOADER, done);
    let _ = imports::THREADS.sleep_until(now() + ticks(TURN_MICROSECONDS));
    LONGEST.each_ref().map(Stamp::load)
}

fn load() -> Stamp {
    cairn_bench::load(imports::LOADER, imports::PORTALS, imports::THREADS)
}

fn unload() {
    imports::LOADER.unload(LOADED_NAME).expect("it is unloaded");
}

fn main() {
    let measuring = spawn(imports::THREADS, &STACKS[0], measure, 0, PRIORITY).expect("a thread");
    let _ = measuring.join();
}

fn measure(_: u64) {
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    match (arguments::in_place(), arguments::moves()) {
        (true, _) => measure_pauses(&mut report, &meter, IN_PLACE..MOVES),
        (_, true) => measure_pauses(&mut report, &meter, MOVES..REPLACED.len()),
        (false, false) => {
            let clock = imports::CLOCK.get().expect("it is connected");
            measure_loads(&mut report, &meter);
            // State that goes over.
            let terminal = imports::CONSOLE.open(imports::PORTALS).expect("there is room");
            terminal.proxy().write(b"half a line").expect("it serves");
            let timers = [1_000_000_000; 2].map(|period| clock.timer(imports::PORTALS, period));
            timers.iter().for_each(|timer| assert!(timer.is_ok(), "there is room"));
            measure_pauses(&mut report, &meter, 0..IN_PLACE);
            // What was written stays, and so do the timers.
            terminal.proxy().close().expect("it is open");
            for timer in timers.into_iter().flatten() {
                timer.proxy().close().expect("it is open");
            }
        }
    }
    report.end();
}

fn measure_loads(report: &mut Report, meter: &Meter) {
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
}

fn measure_pauses(report: &mut Report, meter: &Meter, which: Range<usize>) {
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    for place in which {
        let replaced = &REPLACED[place];
        report.samples(format_args!("{}", replaced.benchmark), 1, |samples| {
            STOP.store(false, Relaxed);
            let caller = spawn(imports::THREADS, &STACKS[1], call, place as u64, CALLER_PRIORITY);
            let caller = caller.expect("a thread");
            for round in rounds.all() {
                if let Change::Place(from, _) = replaced.by {
                    match imports::REPLACEMENT.move_to(replaced.instance, from, 1000) {
                        Err(Error::Busy) => 0,
                        moved => explained(imports::LOADER, moved),
                    };
                }
                let [begin, end] = replace(replaced);
                if rounds.counts(round) {
                    samples.add(meter.since(begin, end));
                }
            }
            STOP.store(true, Relaxed);
            let _ = caller.join();
        });
    }
}
