//! Measures a page fault that a pager mends: from the load that misses the page until it is executed again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::measure::Stamp;
use cairn_bench::{Meter, Report, Rounds};

cairn::component! {
    name: "paged",
    main: main,
}

const PAGE: usize = 4096;
const WARM_UP: usize = 16;
const SAMPLES: usize = 1000;

fn main() {
    let section = environment::section("paged").expect("a section");
    let mut report = Report::new();
    let meter = Meter::new();
    let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
    report.samples(format_args!("fault.pager.map"), 1, |samples| {
        for round in rounds.all() {
            let page = section.part(round * PAGE, PAGE);
            let begin = Stamp::begin();
            let word = page.load(0);
            let end = Stamp::end();
            assert!(word == 0, "the page is zero");
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    report.end();
}
