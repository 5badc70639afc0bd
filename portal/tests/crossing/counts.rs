//! What crossings cost, in executed instructions: from the `ecall`, included, to the first
//! instruction after it. Exact, so that a change is seen; the budgets are those of the design.

use crate::run::*;
use crate::world::*;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::domain::PORTAL_OWN_THREAD;
use cairn_abi::semaphore::level;
use cairn_portal::SemaphoreOperation;

/// Call and return of a connection whose windows, if any, are all of `length` bytes and begin so far in a page.
fn call_and_return(specification: &str, offset: u64, length: u64) -> (u64, u64) {
    let mut world = World::new(80);
    let callee = World::callee(specification, SERVER);
    let connection = world.connect(specification, CLIENT, callee);
    let (mut arguments, buffers) = world.arguments(&connection);
    for buffer in buffers {
        let position = usize::from(buffer.register - ARGUMENTS[0]);
        arguments[position] = at(CLIENT, DATA + buffer.slot * 4 * PAGE_SIZE + offset);
        arguments[position + 1] = length;
    }
    let stack = world.usual_stack(&connection);
    let call = world.call(connection.index, stack, arguments).instructions;
    world.assert_at(callee, ENTRY);
    let back = world.reply(0, 0).instructions;
    world.assert_at(CLIENT, RESUME);
    (call, back)
}

/// Checks a count against what is written down and what the design allows.
fn check(what: &str, count: u64, expected: u64, budget: u64) {
    println!("{what}: {count} instructions, budget {budget}");
    assert!(count <= budget, "{what}: {count} instructions, the budget is {budget}");
    assert_eq!(count, expected, "{what}: the count changed; if it should, write it down here");
}

#[test]
fn calls() {
    // Of a return from the kernel domain the first instruction is the callee's own.
    for (specification, call, back, budget) in [
        ("smciii", 35, 16, 40),
        ("npciii", 77, 52, 80),
        ("kmciii", 34, 11, 30),
        ("kpciii", 46, 24, 38),
    ] {
        let counts = call_and_return(specification, 0, 0);
        check(&format!("{specification}, call"), counts.0, call, 2 * budget);
        check(&format!("{specification}, return"), counts.1, back, 2 * budget);
        check(
            &format!("{specification}, one way"),
            (counts.0 + counts.1).div_ceil(2),
            (call + back).div_ceil(2),
            budget,
        );
    }
}

#[test]
fn windows() {
    let plain = call_and_return("npc", 0, 0);
    for (specification, length, open, close) in [
        ("npcr", PAGE_SIZE, 49, 30),
        ("npcw", PAGE_SIZE, 50, 31),
        ("npcr", 4 * PAGE_SIZE, 73, 42),
        ("npcr", 64, 68, 8),
        ("npcw", 64, 69, 61),
        ("npcr", 0, 29, 8),
    ] {
        let counts = call_and_return(specification, 0, length);
        let budget = if length == PAGE_SIZE { 45 } else { 200 };
        let what = format!("{specification} with {length} bytes, more than without");
        check(&format!("{what}, call"), counts.0 - plain.0, open, 2 * budget);
        check(&format!("{what}, return"), counts.1 - plain.1, close, 2 * budget);
        let one_way = (counts.0 - plain.0 + counts.1 - plain.1).div_ceil(2);
        assert!(one_way <= budget, "{what}, one way: {one_way}, the budget is {budget}");
    }
}

/// The most that a copy adds, whatever its place and length.
#[test]
fn copies() {
    let plain = call_and_return("npc", 0, 0);
    let mut most = (0, 0);
    for offset in 0..8 {
        for length in 0..=64 {
            let counts = call_and_return("npcw", offset, length);
            most = (most.0.max(counts.0 - plain.0), most.1.max(counts.1 - plain.1));
        }
    }
    check("the longest copy, call", most.0, 108, 110);
    check("the longest copy, return", most.1, 100, 110);
}

#[test]
fn short_circuit() {
    let mut world = World::new(81);
    let crossed = world.call(PORTAL_OWN_THREAD as u64, at(CLIENT, STACK), [0; 8]);
    check("short circuit", crossed.instructions, 20, 20);
}

#[test]
fn semaphores() {
    for (operation, expected) in [(SemaphoreOperation::P, 25), (SemaphoreOperation::V, 25)] {
        let mut world = World::new(82);
        let (connection, _) = world.connect_semaphore(operation, CLIENT, 1);
        let crossed = world.call_any(&connection);
        world.assert_at(CLIENT, RESUME);
        check(&format!("semaphore {operation:?}"), crossed.instructions, expected, 28);
    }
    let mut world = World::new(82);
    let (connection, _) = world.connect_noted(level(0), level(0));
    let crossed = world.call_any(&connection);
    world.assert_at(CLIENT, RESUME);
    check("semaphore V, noted", crossed.instructions, 33, 35);
}

#[test]
fn interrupts() {
    let mut world = World::new(83);
    world.machine.csr.stimecmp = 0;
    let crossed = world.cross();
    check("interrupt to scheduler", crossed.instructions, 75, 100);
    world.machine.csr.stimecmp = u64::MAX;
    check("scheduler to interrupted thread", world.reply(0, 0).instructions, 54, 80);
}
