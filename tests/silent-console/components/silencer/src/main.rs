//! Ends the console in its first life, and panics; in its second one it waits until that must have been told.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::startup;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;

cairn::component! {
    name: "silencer",
    imports: { threads: interfaces::Threads, supervisor: interfaces::Supervisor },
    main: main,
}

/// The supervisor gives a console that may be starting again five seconds.
const TOLD_MICROSECONDS: u64 = 8_000_000;

fn main() {
    if startup().generation == 0 {
        imports::SUPERVISOR.kill("console").expect("it can be killed");
        cairn::log::warn!("nobody will read this");
        panic!("who hears this?");
    }
    imports::THREADS.sleep_until(now() + ticks(TOLD_MICROSECONDS)).expect("time passes");
    imports::SUPERVISOR.halt(0).expect("it halts");
}
