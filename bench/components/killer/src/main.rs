//! Kills the instance that its argument names, when all others wait, and ends the system.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn_interfaces::{Supervisor, Threads};

cairn::component! {
    name: "killer",
    imports: { threads: Threads, supervisor: Supervisor },
    main: main,
}

fn main() {
    imports::SUPERVISOR.kill(environment::argument()).expect("it lives");
    let now = cairn::time::counter();
    let _ = imports::THREADS.sleep_until(now + cairn::time::ticks(3000));
    let _ = imports::SUPERVISOR.halt(0);
}
