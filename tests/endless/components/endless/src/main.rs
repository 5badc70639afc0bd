//! Never ends, and lets its equals go first; with the argument `later` when all others have come to where they wait. With `judge` it has
//! the machine start anew when that must have been noticed, as a watchdog does; with `sleep` it is who would run now and then.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;

cairn::component! {
    name: "endless",
    imports: { threads: interfaces::Threads, supervisor: interfaces::Supervisor },
    main: main,
}

const NOTICED_MICROSECONDS: u64 = 10_000_000;

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("time passes");
}

fn main() {
    match environment::argument() {
        "judge" => {
            pause(NOTICED_MICROSECONDS);
            imports::SUPERVISOR.reboot().expect("it reboots");
        }
        "later" => pause(1_000_000),
        "sleep" => loop {
            pause(10_000);
        },
        _ => {}
    }
    loop {
        let _ = imports::THREADS.yield_now();
    }
}
