//! Runs on and on, above all others, and uses its budget up inside of a server that others need, with its lock.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_budget_keeper::Keeper;

cairn::component! {
    name: "hostile-budget-attacker",
    imports: { threads: interfaces::Threads, keeper: Keeper },
    main: main,
}

const PRIORITY: u8 = 200;
/// Of a budget of 1 ms.
const MICROSECONDS: u64 = 700;

static STACKS: [Stack<4096>; 3] = [const { Stack::new() }; 3];

fn work(_: u64) {
    loop {
        let _ = imports::KEEPER.work(MICROSECONDS);
    }
}

/// Begins again and again.
fn end(_: u64) {}

fn main() {
    let [first, second, third] = &STACKS;
    for stack in [first, second] {
        let _ = spawn(imports::THREADS, stack, work, 0, PRIORITY);
    }
    loop {
        if let Ok(thread) = spawn(imports::THREADS, third, end, 0, PRIORITY) {
            let _ = thread.join();
        }
    }
}
