//! Panics in each of its lives, with as long a message as is shown.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::startup;
use cairn::time::{now, ticks};
use cairn_interfaces::Threads;

cairn::component! {
    name: "flapper",
    imports: { threads: Threads },
    main: main,
}

/// Until others have said what they have to say.
const BEGINS_MICROSECONDS: u64 = 2_000_000;

fn main() {
    if startup().generation == 0 {
        let _ = imports::THREADS.sleep_until(now() + ticks(BEGINS_MICROSECONDS));
    }
    panic!("{:->1000}", "");
}
