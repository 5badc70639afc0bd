//! Measures taking a page of memory, and pages that change their owner.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::measure::{self, Stamp, unused_mark};
use cairn_bench::{Meter, Report, Rounds, SAMPLES};
use cairn_interfaces::{Memory, Windows};

cairn::component! {
    name: "pages",
    imports: { memory: Memory, windows: Windows },
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
    // 64 KiB are torn off and taken, by their owner: all but that another pays for them then.
    report.samples(format_args!("window.tear.16"), 1, |samples| {
        let mut pages = imports::MEMORY.pages(16).expect("pages");
        let (own, other) = (environment::startup().instance, cairn::InstanceId(1));
        for round in rounds.all() {
            let begin = Stamp::begin();
            let torn = pages.tear(&imports::WINDOWS, other).expect("they are torn off");
            pages = imports::MEMORY.take(&imports::WINDOWS, torn, own).expect("they are taken");
            let end = Stamp::end();
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    report.end();
}
