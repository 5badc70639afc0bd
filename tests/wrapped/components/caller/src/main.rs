//! Calls the greeter, and asks the guard before it what it has seen.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_app_interfaces::Echo;
use cairn_interfaces as interfaces;
use cairn_test_interposed_contract::Between;

cairn::component! {
    name: "wrapped-caller",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        interposition: interfaces::Interposition,
        echo: Echo,
        guard: Between,
    },
    main: main,
}

use imports::{CONSOLE, ECHO, GUARD, INTERPOSITION, SUPERVISOR};

fn tell(what: &str, is_so: bool) {
    let verdict = if is_so { "ok" } else { "FAILED" };
    let _ = CONSOLE.print(format_args!("{verdict} {what}\n"));
}

/// How many calls have gone through the guard in this life.
fn passed() -> u64 {
    GUARD.passed().map_or(u64::MAX, |(calls, _)| calls)
}

fn main() {
    let first = ECHO.add(2, 3);
    tell("the first call", first == Ok(5) && passed() == 1);

    // While it is dead nobody gets past it.
    let killed = SUPERVISOR.kill("guard");
    let behind = loop {
        match ECHO.add(3, 4) {
            Err(Error::Dead | Error::NoPortal | Error::NotReady) => {}
            other => break other,
        }
    };
    tell("behind a death", killed == Ok(()) && behind == Ok(7) && passed() == 1);

    let mut text = [0; 64];
    let length = INTERPOSITION.rule(0, &mut text).unwrap_or(0);
    let is_told = text.get(..length) == Some(b"* greeter guard");
    let taken = INTERPOSITION.unwrap("", "greeter", "guard");
    let plain = ECHO.add(4, 5);
    tell("taken back", is_told && taken == Ok(3) && plain == Ok(9) && passed() == 1);

    let _ = CONSOLE.print(format_args!("wrapped: done\n"));
    let _ = SUPERVISOR.halt(0);
}
