//! Background load: the first of two instances does again and again what the shared section says; the
//! second passes a token back that the first passes to it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::section::Section;
use cairn_bench::{Link, Load, ring};
use cairn_interfaces::{Portals, SemaphoreProxy, Threads};
use core::hint::black_box;
use core::sync::atomic::Ordering;

cairn::component! {
    name: "load",
    imports: { portals: Portals, threads: Threads, target: Link },
    main: main,
}

/// Operations before the load looks at the section again.
const OPERATIONS: u32 = 100;

fn main() {
    let chosen = environment::section("load").expect("the description maps the section `load`");
    let number = ring::member();
    let [own] = ring::publish(imports::PORTALS, &[("token", 0)]);
    let other = ring::open(imports::PORTALS, imports::THREADS, "load", 1 - number, "token");
    chosen.words(2)[1].fetch_add(1, Ordering::Release);
    if number == 1 {
        while own.p().and_then(|()| other.v()).is_ok() {}
        return;
    }
    while run(&chosen, own, other) {}
}

/// Some operations; `false` when there is nothing to do any more.
fn run(chosen: &Section, own: SemaphoreProxy, other: SemaphoreProxy) -> bool {
    match Load::from_word(chosen.load(0) as i64) {
        Some(Load::Idle) => (0..OPERATIONS).for_each(|round| _ = black_box(round)),
        Some(Load::ShortCircuit) => (0..OPERATIONS).for_each(|_| _ = cairn::time::own_domain()),
        Some(Load::Ipc) => (0..OPERATIONS).for_each(|_| _ = imports::TARGET.pass(0, 0, 0)),
        Some(Load::Yield) => (0..OPERATIONS).for_each(|_| _ = imports::THREADS.yield_now()),
        Some(Load::Semaphores) => {
            (0..OPERATIONS).for_each(|_| _ = other.v().and_then(|()| own.p()))
        }
        Some(Load::Wait | Load::Linux) | None => return false,
    }
    true
}
