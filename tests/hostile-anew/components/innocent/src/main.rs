//! Runs for a moment, now and then, as it should: longer than one thread of the other does, and far less than all of them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_interfaces::Threads;

cairn::component! {
    name: "innocent",
    imports: { threads: Threads },
    main: main,
}

const PERIOD_MICROSECONDS: u64 = 100_000;
const WORK_MICROSECONDS: u64 = 3_000;

fn main() {
    loop {
        let begun = now();
        while now() - begun < ticks(WORK_MICROSECONDS) {}
        imports::THREADS.sleep_until(begun + ticks(PERIOD_MICROSECONDS)).expect("time passes");
    }
}
