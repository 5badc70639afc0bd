//! Has attacks made one after the other, and sees after each whether anyone else noticed.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

mod exhaustion;
mod fuzz;
mod harness;
mod memory;
mod secrets;
mod threads;
mod windows;

use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{Attacker, Victim};
use harness::Harness;

cairn::component! {
    name: "hostile-referee",
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
        attacker: Attacker,
        victim: Victim,
    },
    main: main,
}

fn main() {
    let mut harness = Harness::begin();
    memory::attacks(&mut harness);
    memory::instructions(&mut harness);
    memory::misaligned(&mut harness);
    windows::attacks(&mut harness);
    secrets::attacks(&mut harness);
    threads::attacks(&mut harness);
    exhaustion::attacks(&mut harness);
    fuzz::attacks(&mut harness);
    let failed = harness.failed();
    harness::say!("hostile: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
