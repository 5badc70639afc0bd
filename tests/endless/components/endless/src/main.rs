//! Never ends, and lets its equals go first; or, with the argument `judge`, has the machine start anew when that must have been noticed, as a watchdog does.
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

fn main() {
    if environment::argument() == "judge" {
        imports::THREADS.sleep_until(now() + ticks(NOTICED_MICROSECONDS)).expect("time passes");
        imports::SUPERVISOR.reboot().expect("it reboots");
    }
    loop {
        let _ = imports::THREADS.yield_now();
    }
}
