//! Kills who waits in a neighbour for ever, and sees it start again while the neighbour lives on.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod harness;
mod waits;

use cairn_interfaces as interfaces;
use cairn_test_hostile_places::{Keeper, Waiter};
use harness::{Judge, say};

cairn::component! {
    name: "hostile-judge-waits",
    imports: {
        console: interfaces::Console,
        control: interfaces::SchedulerControl,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryControl,
        code: interfaces::PortalControl,
        keeper: Keeper,
        reader: Waiter,
        sleeper: Waiter,
        timer: Waiter,
        kept: Waiter,
    },
    main: main,
}

fn main() {
    let mut judge = Judge::begin();
    waits::attacks(&mut judge);
    let failed = judge.failed();
    say!("hostile-waits: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
