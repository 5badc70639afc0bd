//! Leaves the others some milliseconds now and then, has the supervisor look at the system in between, and halts with how often the
//! console was started again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_interfaces::{Supervisor, Threads};

/// By then the console has its text.
const BEGIN_MICROSECONDS: u64 = 100_000;
const ALL_MICROSECONDS: u64 = 16_000_000;
const TURN_MICROSECONDS: u64 = 1_600_000;
const PAUSE_MICROSECONDS: u64 = 5_000;

cairn::component! {
    name: "hostile-screen-hog",
    imports: { threads: Threads, supervisor: Supervisor },
    main: main,
}

fn main() {
    let _ = imports::THREADS.sleep_until(now() + ticks(BEGIN_MICROSECONDS));
    let end = now() + ticks(ALL_MICROSECONDS);
    while now() < end {
        let until = now() + ticks(TURN_MICROSECONDS);
        while now() < until {}
        let _ = restarts_of("console");
        let _ = imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS));
    }
    let _ = imports::SUPERVISOR.halt(restarts_of("console").unwrap_or(100));
}

/// How often an instance was started again.
fn restarts_of(name: &str) -> Option<u64> {
    let mut number = 0;
    loop {
        let mut text = [0; 256];
        let (length, found) = imports::SUPERVISOR.describe(number, &mut text).ok()?;
        let mut words = core::str::from_utf8(text.get(..length)?).ok()?.split(' ');
        if words.next() == Some(name) {
            return words.nth(3)?.parse().ok();
        }
        number = found + 1;
    }
}
