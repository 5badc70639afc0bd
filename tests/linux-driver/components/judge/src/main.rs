//! Uses a clock of day that a driver of Linux' has and a program of Linux' serves.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, Object};
use cairn_driver_interfaces::WallClock;
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};

cairn::component! {
    name: "linux-driver-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
    },
    main: main,
}

use imports::*;

const SECOND: u64 = 1_000_000_000;
/// The beginning of 2024.
const PAST: u64 = 1_704_067_200 * SECOND;

/// The clock, as soon as it is served.
fn clock() -> Object<dyn WallClock> {
    loop {
        match PORTALS.open_object("linux.clock") {
            Ok(clock) => return clock,
            Err(Error::NotFound | Error::Dead) => judge::pause(THREADS, 1_000),
            Err(error) => panic!("linux.clock: {}", error.text()),
        }
    }
}

/// Waits for the next second but one.
fn alarm(name: &str) {
    let clock = clock();
    let clock = clock.proxy();
    let begin = match clock.now() {
        Ok(begin) if begin > PAST => begin,
        begin => return say!("FAILED the time is {begin:?}"),
    };
    say!("ok: a time of this century");
    let waited = clock.wait_until(begin + 2 * SECOND);
    match clock.now() {
        Ok(end) if waited.is_ok() && end >= begin + 2 * SECOND => say!("ok: {name}"),
        end => say!("FAILED {name}: {waited:?}, from {begin} to {end:?}"),
    }
}

fn main() -> Result<(), Error> {
    alarm("an alarm");
    SUPERVISOR.restart("linux")?;
    alarm("an alarm of the next life");
    let clock = clock();
    for _ in 0..2 {
        match clock.proxy().wait_until(u64::MAX) {
            Err(Error::Dead) => {}
            other => say!("FAILED switched off: {other:?}"),
        }
    }
    say!("ok: switched off");
    SUPERVISOR.halt(0)
}
