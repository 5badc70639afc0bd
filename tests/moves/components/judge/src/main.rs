//! Calls a counter all the time that moves between its own domain and the kernel domain.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_replaced_contract::{Counter, kinds};
use core::fmt::Debug;

cairn::component! {
    name: "moves-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        counter: Counter,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{CONSOLE, COUNTER, PORTALS, SUPERVISOR};

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// Where nothing calls.
fn idle() {
    expect("as described", COUNTER.kind(), Ok(kinds::GOOD));
    expect("it counts", COUNTER.add(40), Ok(40));
    let cell = COUNTER.cell(PORTALS, 7).expect("there is room");
    expect("its object too", cell.proxy().add(1), Ok(8));
    say!("ok: at rest");
}

fn main() {
    idle();
    say!("moves: done");
    let _ = SUPERVISOR.halt(0);
}
