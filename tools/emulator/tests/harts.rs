//! Several harts: what is a hart's own, and what all see.

use cairn_emulator::encode::*;
use cairn_emulator::mmu::{ACCESSED, DIRTY, EXECUTE, READ, WRITE};
use cairn_emulator::register::*;
use cairn_emulator::{AddressSpace, Machine, Step, Tables};

const CODE: u64 = 0x8000_0000;
const FRAMES: u64 = 0x8020_0000;
const TABLES: u64 = 0x8010_0000;
const PAGE: u64 = 0x40_0000;

/// Two harts at the beginning of `program`, with the address of memory in `a0`. The first runs.
fn two(program: &[u32]) -> Machine {
    let mut machine = Machine::new();
    machine.memory.add(CODE, 0x1000);
    machine.memory.add(FRAMES, 0x2000);
    machine.memory.write(CODE, &bytes(program)).unwrap();
    assert_eq!(machine.add_hart(), 1);
    for hart in [1, 0] {
        machine.select_hart(hart);
        machine.program_counter = CODE;
        machine.set(A0, FRAMES);
    }
    machine
}

/// Steps of a hart.
fn run(machine: &mut Machine, hart: usize, steps: usize) {
    machine.select_hart(hart);
    (0..steps).for_each(|_| assert_eq!(machine.step(), Step::Completed));
}

#[test]
fn registers_are_a_harts_own_and_memory_is_everyones() {
    let mut machine = two(&[addi(A1, A1, 7), sd(A1, A0, 0), ld(A2, A0, 0)]);
    run(&mut machine, 0, 2);
    assert_eq!((machine.get(A1), machine.program_counter), (7, CODE + 8));
    machine.select_hart(1);
    assert_eq!((machine.get(A1), machine.program_counter, machine.executed()), (0, CODE, 0));
    machine.program_counter = CODE + 8;
    run(&mut machine, 1, 1);
    assert_eq!(machine.get(A2), 7);
}

#[test]
fn a_store_of_another_hart_ends_a_reservation() {
    let program = [lr_d(A1, A0), sc_d(A2, A1, A0), sd(A1, A0, 0)];
    for (distance, stored) in [(0, 0), (8, 1)] {
        let mut machine = two(&program);
        run(&mut machine, 0, 1);
        machine.select_hart(1);
        machine.program_counter = CODE + 8;
        machine.set(A0, FRAMES + distance);
        run(&mut machine, 1, 1);
        run(&mut machine, 0, 1);
        assert_eq!(machine.get(A2), 1 - stored, "a store {distance} bytes further");
    }
    // Its own does not.
    let mut machine = two(&[lr_d(A1, A0), sd(A1, A0, 0), sc_d(A2, A1, A0)]);
    run(&mut machine, 0, 3);
    assert_eq!(machine.get(A2), 0);
}

#[test]
fn a_fence_is_for_the_hart_that_executes_it() {
    let mut machine = two(&[ld(A1, A0, 0), sfence_vma(0, 0), ld(A2, A0, 0)]);
    let mut tables = Tables::new(&mut machine.memory, TABLES, 8);
    let space = AddressSpace::new(&mut tables, 1);
    let flags = READ | ACCESSED;
    space.map(&mut machine.memory, &mut tables, CODE, CODE, 1, flags | EXECUTE);
    space.map(&mut machine.memory, &mut tables, PAGE, FRAMES, 1, flags | WRITE | DIRTY);
    for hart in [0, 1] {
        machine.select_hart(hart);
        machine.csr.satp = space.satp();
        machine.set(A0, PAGE);
        run(&mut machine, hart, 1);
    }
    let entry = space.entry(&machine.memory, PAGE).unwrap();
    machine.memory.write_u64(entry, 0).unwrap();
    run(&mut machine, 0, 1);
    assert!(matches!(machine.step(), Step::Trapped(_)), "it has fenced");
    machine.select_hart(1);
    machine.program_counter = CODE + 8;
    run(&mut machine, 1, 1);
}
