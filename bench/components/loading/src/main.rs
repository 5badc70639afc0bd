//! Measures how long it takes to load a package of 64 KiB, up to its first instruction, and to unload it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::Stamp;
use cairn_bench::{Loaded, Meter, Report, Rounds};
use cairn_interfaces::{Console, Loader, Portals, Threads};

cairn::component! {
    name: "loading",
    imports: { console: Console, loader: Loader, portals: Portals, threads: Threads },
    main: main,
}

const WARM_UP: usize = 3;
const ROUNDS: usize = 30;
/// A round takes as long as many calls.
const WEIGHT: usize = 100;
const NAME: &str = "loaded";

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
    report.end();
}
