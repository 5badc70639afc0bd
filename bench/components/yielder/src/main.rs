//! One of a ring of equal threads, each in a domain of its own, that yield to each other. The first
//! measures; its argument is `first`, the others' is their number, from 1.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::environment;
use cairn::measure;
use cairn_bench::{Meter, Report, SAMPLES};
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
/// Words of the section: the instruction count before the last yield; how many threads take part.
const MARK: usize = 0;
const ACTIVE: usize = 1;

fn main() {
    let words =
        environment::section("ring").expect("the description maps the section `ring`").words(2);
    match environment::argument().parse::<i64>() {
        Ok(number) => {
            // Equal threads take turns, so the first has set the number before another reads it.
            while words[ACTIVE].load(Ordering::Relaxed) > number {
                measure::portal(YIELD, &[0; 8], &words[MARK]);
            }
        }
        Err(_) => first(&words[MARK], &words[ACTIVE]),
    }
}

/// Instructions from the `ecall` of the thread before to the first one after this thread's return.
fn first(mark: &AtomicI64, active: &AtomicI64) {
    let mut report = Report::new();
    let meter = Meter::new();
    for threads in [8, 4, 2, 1] {
        active.store(threads, Ordering::Relaxed);
        report.samples(format_args!("thread.yield.{threads}"), 1, |samples| {
            for round in 0..WARM_UP + SAMPLES {
                let sample = measure::portal(YIELD, &[0; 8], mark);
                let before = mark.load(Ordering::Relaxed) as u64;
                if round >= WARM_UP {
                    samples.add(meter.between(before, sample.end));
                }
            }
        });
    }
    report.end();
}
