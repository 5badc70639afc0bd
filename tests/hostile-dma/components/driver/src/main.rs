//! A confined driver that tries to make its device reach foreign memory: by every word that its portals take, by the rings, which
//! are its own, and by writing where it may not.
#![no_std]
#![no_main]

mod storm;
mod touch;

use cairn::abi::address::PAGE_SIZE;
use cairn::abi::device::*;
use cairn::abi::startup::Mapping;
use cairn::dma::Buffer;
use cairn::environment::{self, startup};
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use core::fmt::Debug;

cairn::component! {
    name: "driver",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        devices: cairn_driver_interfaces::Devices,
    },
    main: main,
}

/// Words of the section, as the judge has them.
const POSTED: usize = 0;
const TOUCHED: usize = 8;
const FAILED: usize = 16;

fn main() {
    nothing_of_a_life_before();
    match environment::argument() {
        "touch" => touch::touch(startup().generation),
        _ => storm::storm(),
    }
}

fn progress() -> cairn::section::Section {
    environment::section("progress").expect("the description has a section")
}

fn complain(found: impl Debug) {
    let _ = imports::CONSOLE.print(format_args!("FAILED: {}: {found:?}\n", environment::name()));
    progress().store(FAILED, 1);
}

fn device() -> &'static Mapping {
    &startup().devices[0]
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

/// The device was reset before the memory became zero: it writes nothing any more that an earlier life told it to.
fn nothing_of_a_life_before() {
    let memory = Buffer::all().expect("the description gives memory");
    for _ in 0..2 {
        if (0..memory.size()).step_by(8).any(|at| memory.load(at) != 0) {
            complain("the device wrote after its reset");
        }
        pause(300);
    }
}
