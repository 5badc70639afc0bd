//! Goes to who never returns, each time it is started.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces::Threads;
use cairn_test_hostile_captors::Captor;

cairn::component! {
    name: "hostile-captive",
    imports: { threads: Threads, target: Captor },
    main: main,
}

/// With an argument, the first life is spent waiting: its callee would take all the time of the others' tests.
fn main() {
    let startup = environment::startup();
    while startup.generation == 0 && environment::argument() == "later" {
        let _ = imports::THREADS.sleep_until(now() + ticks(10_000_000));
    }
    loop {
        let _ = imports::TARGET.keep();
        let _ = imports::THREADS.sleep_until(now() + ticks(1000));
    }
}
