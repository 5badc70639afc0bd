//! Reserves the valve whose number is its argument, and turns it; reserves it anew when the server died.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn_example_valves_contract::{ValveError, ValveProxy, Valves};
use cairn_interfaces::{Clock, Console, Portals};

/// Between two turns, or two attempts, in nanoseconds.
const PAUSE: u64 = 10_000_000;

cairn::component! {
    name: "valves-client",
    imports: { console: Console, clock: Clock, portals: Portals },
    main: main,
}

fn main() {
    let number = environment::argument().parse().expect("the argument is a number");
    let valves =
        imports::PORTALS.open_proxy::<dyn Valves>("valves.valves").expect("open the valves");
    let mut said = None;
    loop {
        match valves.reserve(imports::PORTALS, number) {
            Ok(valve) => {
                say(format_args!("has valve {number}"));
                let error = turn(valve.proxy());
                say(format_args!("lost valve {number}: {error:?}"));
                // Whatever became of the object: until they are closed, its portals count against this client.
                imports::PORTALS.close(valve.first_portal().into()).expect("close");
                said = None;
            }
            Err(error) if said != Some(error) => {
                say(format_args!("cannot have valve {number}: {error:?}"));
                said = Some(error);
            }
            Err(_) => {}
        }
        imports::CLOCK.sleep(PAUSE).expect("sleep");
    }
}

/// Turns the valve until that fails, and says why it does.
fn turn(valve: ValveProxy) -> ValveError {
    let mut percent = 0;
    loop {
        percent = percent % 100 + 10;
        let turned = valve.turn(percent);
        // The clock can die as the valve can: both are calls.
        if let Err(error) = turned.and_then(|()| Ok(imports::CLOCK.sleep(PAUSE)?)) {
            return error;
        }
    }
}

/// Writes a line. Without a console there is nobody to tell.
fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(format_args!("{}: {text}\n", environment::name()));
}
