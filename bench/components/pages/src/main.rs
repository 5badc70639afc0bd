//! Measures taking a page of memory, and giving it back.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::{self, unused_mark};
use cairn_bench::{Meter, Report, Rounds, SAMPLES};
use cairn_interfaces::Memory;

cairn::component! {
    name: "pages",
    imports: { memory: Memory },
    main: main,
}

const WARM_UP: usize = 100;

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    let first = imports::MEMORY.first_portal();
    let rounds = Rounds::of_chain(WARM_UP, SAMPLES, 1);
    report.samples(format_args!("memory.allocate"), 1, |samples| {
        for round in rounds.all() {
            // `Memory::allocate` is the first method.
            let sample = measure::portal(first, &[0, 0, 1, 0, 0, 0, 0, 0], &unused_mark());
            assert!(sample.reply.status == 0, "there is no page");
            imports::MEMORY.free(sample.reply.value, 1).expect("it was allocated");
            if rounds.counts(round) {
                samples.add(meter.between(sample.begin, sample.end));
            }
        }
    });
    report.end();
}
