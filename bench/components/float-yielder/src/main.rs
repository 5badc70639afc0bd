//! One of two equal threads, each in a domain of its own, that yield to each other while both compute with the floating-point unit. The
//! first measures; its argument is `first`.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::environment;
use cairn::measure::{self, Mark, Stamp};
use cairn_bench::{Meter, Report, Rounds, SAMPLES, Unit, ring};
use cairn_interfaces::Threads;
use core::hint::black_box;
use core::sync::atomic::{AtomicI64, Ordering};

cairn::component! {
    name: "float-yielder",
    imports: { threads: Threads, unit: Unit },
    main: main,
}

const WARM_UP: usize = 100;
/// Index of the portal of `yield_now`, the first method.
const YIELD: u32 = PORTAL_FIRST_IMPORT as u32;

/// What is computed between two yields: it is in a register, and so has to be there again.
fn next(number: f64) -> f64 {
    black_box(3.9 * number * (1.0 - number))
}

fn main() {
    let section = environment::section("ring").expect("the description maps the section `ring`");
    // The stamp before the last yield; whether both take part.
    let Some((mark, [active])) = section.words(3).split_first_chunk() else { return };
    match ring::argument() {
        "first" => first(mark, active),
        _ => {
            let mut number = 0.3;
            while active.load(Ordering::Relaxed) > 1 {
                measure::portal(YIELD, &[0; 8], mark);
                number = next(number);
            }
        }
    }
}

/// From the `ecall` of the thread before to the first one after this thread's return.
fn first(mark: &Mark, active: &AtomicI64) {
    let mut report = Report::new();
    let meter = Meter::new();
    let mut number = 0.3;
    for threads in [2, 1] {
        let rounds = Rounds::of_chain(WARM_UP, SAMPLES, threads as usize);
        active.store(threads, Ordering::Relaxed);
        report.samples(format_args!("thread.yield.float.{threads}"), 1, |samples| {
            for round in rounds.all() {
                let sample = measure::portal(YIELD, &[0; 8], mark);
                number = next(number);
                let before = Stamp::load(mark);
                if rounds.counts(round) {
                    samples.add(meter.between(before, sample.end));
                }
            }
        });
    }
    let rounds = Rounds::new(WARM_UP, 1000, 1);
    report.samples(format_args!("float.first_use"), 1, |samples| {
        for round in rounds.all() {
            number = next(number);
            let cost = imports::UNIT.first_use().expect("it has the unit");
            if rounds.counts(round) {
                samples.add(cost);
            }
        }
    });
    let own = imports::UNIT.own_cost().expect("it has a cost");
    report.samples(format_args!("portal.float.iii"), 2, |samples| {
        for round in rounds.all() {
            number = next(number);
            let words = [0, 1, 2, 3, 0, 0, 0, 0];
            let cost = meter.stub(imports::UNIT.portals(), 0, &words) - own;
            if rounds.counts(round) {
                samples.add(cost);
            }
        }
    });
    report.end();
}
