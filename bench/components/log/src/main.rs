//! Measures what a record of a log costs, with a number to format, and one whose level is off.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::log::{debug, info};
use cairn::measure::Stamp;
use cairn_bench::{Meter, Report, Rounds, SAMPLES};
use core::hint::black_box;

cairn::component! {
    name: "log",
    main: main,
}

const WARM_UP: usize = 10;

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    let mut measure = |name: &str, work: &dyn Fn(u64)| {
        report.samples(format_args!("log.{name}"), 1, |samples| {
            let rounds = Rounds::new(WARM_UP, SAMPLES, 10);
            for round in rounds.all() {
                let begin = Stamp::begin();
                work(black_box(1234));
                let end = Stamp::end();
                if rounds.counts(round) {
                    samples.add(meter.since(begin, end));
                }
            }
        });
    };
    measure("off", &|number| debug!("a reading of {number}"));
    measure("on", &|number| info!("a reading of {number}"));
    report.end();
}
