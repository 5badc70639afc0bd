//! Kills who waits in a neighbour for ever, and sees it start again while the neighbour lives on.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod memory;
mod returns;
mod stacks;
mod timers;
mod waits;

use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;
use cairn_test_hostile_places::{Keeper, Returner, Waiter};

cairn::component! {
    name: "hostile-judge-waits",
    imports: {
        console: interfaces::Console,
        scheduling: interfaces::SchedulerStatistics,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        memory: interfaces::Memory,
        portals: interfaces::Portals,
        clock: interfaces::Clock,
        keeper: Keeper,
        reader: Waiter,
        sleeper: Waiter,
        timer: Waiter,
        kept: Waiter,
        returner: Returner,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

fn main() {
    let mut judge = harness::begin();
    // First, because each of its delays comes once.
    returns::attacks(&mut judge);
    harness::wait_until(|| imports::RETURNER.started().is_ok_and(|started| started & 0xffff == 6));
    waits::attacks(&mut judge);
    stacks::attacks(&mut judge);
    timers::attacks(&mut judge);
    memory::attacks(&mut judge);
    let failed = judge.failed();
    say!("hostile-waits: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
