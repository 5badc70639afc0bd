//! Calls drivers whose devices cannot be reset: an error comes, whoever let them end, and nobody waits for a life that does not begin.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces as interfaces;
use cairn_test_demand_server::{Rare, RareProxy};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;

cairn::component! {
    name: "quarantine-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        rare: Rare,
        steady: Rare,
    },
    main: main,
}

use imports::{CONSOLE, RARE, STEADY, SUPERVISOR, THREADS};

/// As the description has it.
const IDLE_STOP_MICROSECONDS: u64 = 5000;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn becomes(name: &str, state: &str) -> bool {
    judge::wait_until(THREADS, || {
        judge::life(SUPERVISOR, name, |found, _| found == state) == Some(true)
    })
}

/// It stays what it is, whatever is tried, but for a restart.
fn stays(name: &str, server: RareProxy) {
    expect("it is quarantined", becomes(name, "quarantined"), true);
    expect("who calls it gets an error", server.count(), Err(Error::Dead));
    expect("and who brings something", server.sum(&[1, 2, 3]), Err(Error::Dead));
    expect("it cannot crash", SUPERVISOR.crash(name), Err(Error::Dead));
    expect("it can be killed once more", SUPERVISOR.kill(name), Ok(()));
    expect("and stays", becomes(name, "quarantined"), true);
    expect("a restart is tried", SUPERVISOR.restart(name), Ok(()));
    expect("the device does not confirm", becomes(name, "quarantined"), true);
    expect("nobody comes in", server.count(), Err(Error::Dead));
}

fn main() {
    expect("it begins", STEADY.count(), Ok((1, 1)));
    expect("it faults", STEADY.fail(), Err(Error::Dead));
    stays("steady", STEADY);
    for step in 0..3 {
        // Who comes while it ends waits for its next life.
        expect("the first call starts it", step > 0 || RARE.count().is_ok(), true);
        judge::pause(THREADS, 2 * IDLE_STOP_MICROSECONDS + step);
        let _ = RARE.count();
    }
    stays("rare", RARE);
    say!("quarantine: done");
    let _ = SUPERVISOR.halt(0);
}
