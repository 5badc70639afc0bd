//! Background load: does again and again what the shared section says.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::section::Section;
use cairn_bench::{Link, Load};
use cairn_interfaces::Threads;
use core::hint::black_box;

cairn::component! {
    name: "load",
    imports: { threads: Threads, target: Link },
    main: main,
}

/// Operations before the load looks at the section again.
const OPERATIONS: u32 = 100;

fn main() {
    let chosen = environment::section("load").expect("the description maps the section `load`");
    while run(&chosen) {}
}

/// Some operations; `false` when there is nothing to do any more.
fn run(chosen: &Section) -> bool {
    match Load::from_word(chosen.load(0) as i64) {
        Some(Load::Idle) => (0..OPERATIONS).for_each(|round| _ = black_box(round)),
        Some(Load::ShortCircuit) => (0..OPERATIONS).for_each(|_| _ = cairn::time::own_domain()),
        Some(Load::Ipc) => (0..OPERATIONS).for_each(|_| _ = imports::TARGET.pass(0, 0, 0)),
        Some(Load::Yield) => (0..OPERATIONS).for_each(|_| _ = imports::THREADS.yield_now()),
        Some(Load::Wait) | None => return false,
    }
    true
}
