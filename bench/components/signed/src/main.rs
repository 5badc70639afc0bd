//! Measures how long it takes to load a package of 64 KiB from a store, up to its first instruction, if it has to be signed.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::Stamp;
use cairn_bench::{LOADED_NAME, Meter, Report, Rounds, load};
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

fn main() {
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    report.samples(format_args!("load.64k.signed"), 1, |samples| {
        for round in rounds.all() {
            let begin = Stamp::begin();
            let begun = load(imports::LOADER, imports::PORTALS, imports::THREADS);
            if rounds.counts(round) {
                samples.add(meter.since(begin, begun));
            }
            imports::LOADER.unload(LOADED_NAME).expect("it is unloaded");
        }
    });
    report.end();
}
