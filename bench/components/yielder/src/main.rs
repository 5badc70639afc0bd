//! One of a ring of equal threads, each in a domain of its own, that yield to each other. The first
//! measures; its argument is `first`, the others' is their number, from 1.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::environment;
use cairn::measure::{self, Mark, Stamp};
use cairn_bench::{Meter, Report, Rounds, SAMPLES, ring};
use cairn_interfaces::Threads;
use core::sync::atomic::{AtomicI64, Ordering};

cairn::component! {
    name: "yielder",
    imports: { threads: Threads },
    main: main,
}

const WARM_UP: usize = 100;
/// Index of the portal of `yield_now`, the first method.
const YIELD: u32 = PORTAL_FIRST_IMPORT as u32;

fn main() {
    let section = environment::section("ring").expect("the description maps the section `ring`");
    // The stamp before the last yield; how many threads take part.
    let Some((mark, [active])) = section.words(3).split_first_chunk() else { return };
    match ring::argument().parse::<i64>() {
        Ok(number) => {
            // Equal threads take turns, so the first has set the number before another reads it.
            while active.load(Ordering::Relaxed) > number {
                measure::portal(YIELD, &[0; 8], mark);
            }
        }
        Err(_) => first(mark, active),
    }
}

/// From the `ecall` of the thread before to the first one after this thread's return.
fn first(mark: &Mark, active: &AtomicI64) {
    let mut report = Report::new();
    let meter = Meter::new();
    for threads in [8, 4, 2, 1] {
        let rounds = Rounds::of_chain(WARM_UP, SAMPLES, threads as usize);
        active.store(threads, Ordering::Relaxed);
        report.samples(format_args!("thread.yield.{threads}"), 1, |samples| {
            for round in rounds.all() {
                let sample = measure::portal(YIELD, &[0; 8], mark);
                let before = Stamp::load(mark);
                if rounds.counts(round) {
                    samples.add(meter.between(before, sample.end));
                }
            }
        });
    }
    report.end();
}
