//! Calls users of the floating-point unit, itself without, and says what held.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[path = "../../worker/src/orbit.rs"]
mod orbit;

use cairn::Error;
use cairn_app_interfaces::{Echo, EchoProxy};
use cairn_interfaces::{Clock, Console};
use core::fmt::Write;

cairn::component! {
    name: "float-driver",
    imports: {
        console: Console, clock: Clock, worker: Echo, beside: Echo, spy: Echo, undeclared: Echo
    },
    main: main,
}

struct Terminal;
impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        imports::CONSOLE.write(text.as_bytes()).map_err(|_| core::fmt::Error)
    }
}

/// What the spy is told to do.
const FILL: u64 = 0;
const FAULT: u64 = 1;
const CHANGED: u64 = 2;
const ROUNDS: u64 = 3;

fn check(what: &str, holds: bool) {
    let _ = writeln!(Terminal, "{} {what}", if holds { "ok:" } else { "FAILED:" });
}

/// The answer of a server that is being started again.
fn again(server: EchoProxy, left: u64, right: u64) -> Result<u64, Error> {
    loop {
        match server.add(left, right) {
            Err(Error::Dead | Error::NoPortal) => drop(imports::CLOCK.sleep(1_000_000)),
            answer => return answer,
        }
    }
}

fn main() {
    const TIMES: u64 = 60;
    // Before each time the spy's own thread is stopped somewhere.
    let mut same = true;
    let (mut seen, mut seed) = (0, 7);
    for time in 0..TIMES {
        let _ = imports::CLOCK.sleep(700_000 + time * 3_001);
        let expected = orbit::after(seed, 5);
        let server = if time % 2 == 0 { imports::WORKER } else { imports::BESIDE };
        seen |= imports::SPY.add(FILL, u64::MAX).unwrap_or(u64::MAX);
        same &= server.add(seed, 5) == Ok(expected);
        seen |= imports::SPY.add(FILL, seed).unwrap_or(u64::MAX);
        same &= imports::WORKER.add(seed, 5) == Ok(expected);
        seed = expected;
    }
    check("what the unit computes is what software computes", same);
    check("the spy sees nobody's registers", seen == 0);
    let rounds = imports::SPY.add(ROUNDS, 0).unwrap_or(0);
    check("the spy's thread ran beside", rounds > 0);
    check("and kept its registers", imports::SPY.add(CHANGED, 0) == Ok(0));

    let fault = imports::SPY.add(FAULT, u64::MAX);
    check("an illegal instruction is one with the unit, too", matches!(fault, Err(Error::Dead)));
    check("the spy's next life sees nothing", again(imports::SPY, FILL, u64::MAX) == Ok(0));
    let undeclared = imports::UNDECLARED.add(0, 0);
    check("who does not say it has no unit", matches!(undeclared, Err(Error::Dead)));
    let expected = orbit::after(seed, 9);
    check("the worker goes on", imports::WORKER.add(seed, 9) == Ok(expected));
    let _ = writeln!(Terminal, "driver: done");
}
