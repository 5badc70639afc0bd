//! Measures how long it takes to load a package of 64 KiB from a store, up to its first instruction, if it has to be signed.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::Stamp;
use cairn_bench::{Loaded, Meter, Report, Rounds};
use cairn_interfaces::{Console, Loader, Portals, Threads};

cairn::component! {
    name: "signed",
    imports: { console: Console, loader: Loader, portals: Portals, threads: Threads },
    main: main,
}

const WARM_UP: usize = 2;
const ROUNDS: usize = 5;
/// A round takes as long as very many calls.
const WEIGHT: usize = 2000;
const NAME: &str = "loaded";

fn load() -> Stamp {
    if let Err(error) = imports::LOADER.load(NAME, NAME) {
        let mut text = [0; 192];
        let length = imports::LOADER.explain(&mut text).unwrap_or(0);
        panic!("{error:?}: {:?}", core::str::from_utf8(&text[..length]));
    }
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

fn main() {
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    report.samples(format_args!("load.64k.signed"), 1, |samples| {
        for round in rounds.all() {
            let begin = Stamp::begin();
            let begun = load();
            if rounds.counts(round) {
                samples.add(meter.since(begin, begun));
            }
            imports::LOADER.unload(NAME).expect("it is unloaded");
        }
    });
    report.end();
}
