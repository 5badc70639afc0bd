//! Who has the floating-point unit, case by case: what is saved and what is not, whose status changes, and a user that is stopped
//! before every instruction.

use crate::float::{Model, USERS, prepared};
use crate::run::Crossed;
use crate::world::*;
use cairn_abi::float::{FLOAT_BASE_CELL, FLOAT_CELL};
use cairn_abi::privileged::*;
use cairn_abi::thread::*;
use cairn_emulator::csr::{FCSR, STATUS_FS, STATUS_SD};
use cairn_emulator::encode::*;
use cairn_emulator::register::*;

/// Words that were written to the cell of a thread's base.
fn saves(crossed: &Crossed, thread: usize) -> usize {
    let end = physical(thread_block(thread)) + FLOAT_BASE_CELL as u64;
    let cell = end - FLOAT_CELL as u64..end - 8;
    crossed.journal.writes.iter().filter(|write| cell.contains(&write.address)).count()
}

/// The test below, in a world.
pub fn read_by_turns(mut world: World) {
    let switch = |world: &mut World, to: usize| {
        world.machine.csr.stimecmp = 0;
        world.cross();
        world.machine.csr.stimecmp = u64::MAX;
        let arguments = [0, 0, to as u64, 0, 0, 0, 0, 0];
        world.call(PORTAL_SWITCH as u64, at(SCHEDULER, STACK - 64), arguments);
    };
    // The first has used it, the second is set up and uses it.
    world.machine.set(A0, 5);
    world.execute(fmv_d_x(0, A0)).expect("the first use");
    assert!(world.is_older(), "there is no cell yet");
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    let (entry, top, stub) = (at(BACKEND, ENTRY), at(BACKEND, STACK), at(BACKEND, STUB));
    let arguments = [2, BACKEND as u64, entry, top, 0, stub, 0, 0];
    world.call(PORTAL_SET_UP_THREAD as u64, at(SCHEDULER, STACK - 64), arguments);
    world.call(PORTAL_SWITCH as u64, at(SCHEDULER, STACK - 64), [0, 0, 2, 0, 0, 0, 0, 0]);
    let first = world.execute(fmv_x_d(A0, 0)).expect("its first use");
    assert_eq!((saves(&first, THREAD), world.machine.get(A0)), (33, 0));
    // Each reads, by turns.
    let mut saved = Vec::new();
    for (thread, value) in [(THREAD, 5), (2, 0), (THREAD, 5), (2, 0)] {
        switch(&mut world, thread);
        assert_eq!(world.status_of_unit(), 0);
        let taken = world.execute(fmv_x_d(A0, 0)).expect("it was taken away");
        assert_eq!(world.machine.get(A0), value);
        assert_eq!(world.machine.csr.sstatus & (STATUS_FS | STATUS_SD), 2 << 13);
        saved.push(saves(&taken, if thread == 2 { THREAD } else { 2 }));
    }
    // What begins is saved once, since there was nothing to load.
    assert_eq!(saved, [33, 0, 0, 0]);
}

/// Registers that nobody wrote are not saved: what they were loaded from is as they are.
#[test]
fn what_was_not_written_is_not_saved() {
    read_by_turns(prepared(&USERS, 7).0);
}

/// A status is taken for an interrupted owner's only if it is one.
pub fn look_for_the_status(world: &World, model: &Model) {
    let word = u64::MAX;
    for case in 0..4 {
        let mut world = world.clone();
        // The owner is the base of a thread, which is called (same thread), or another one, which does not run.
        world.machine.set(A0, 5);
        world.execute(fmv_d_x(0, A0)).expect("the first use");
        let trap = base_header().wrapping_add_signed(TRAP_FRAME);
        let block = thread_block(THREAD).wrapping_add_signed(FIELD_FRAME);
        let into = |callee| {
            let is_it = |one: &&Connection| one.caller == CLIENT && one.callee == callee;
            model.connections.iter().find(is_it).expect("a connection").clone()
        };
        if case == 0 {
            world.call_any(&into(SERVER));
        } else {
            world.machine.csr.stimecmp = 0;
            world.cross();
            world.machine.csr.stimecmp = u64::MAX;
            let (entry, top, stub) = (at(BACKEND, ENTRY), at(BACKEND, STACK), at(BACKEND, STUB));
            let arguments = [2, BACKEND as u64, entry, top, 0, stub, 0, 0];
            let stack = at(SCHEDULER, STACK - 64);
            world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
            world.call(PORTAL_SWITCH as u64, stack, [0, 0, 2, 0, 0, 0, 0, 0]);
        }
        let back = world.nucleus.symbol("trap_return");
        world.set_word(trap, if case == 2 { back - 16 } else { back });
        world.set_word(block, if case == 3 { trap + 8 } else { trap });
        let status = trap.wrapping_add_signed(TRAP_STATUS);
        world.set_word(status, word);
        world.execute(fmv_d_x(0, A0)).expect("another's first use");
        let expected = if case == 1 { word & !STATUS_FS } else { word };
        assert_eq!(world.word(status), expected, "case {case}");
    }
}

/// Who comes back from a callee that used the unit has its registers, and they are not saved again.
pub fn come_back(world: &World, model: &Model) {
    let mut world = world.clone();
    world.machine.set(A0, 5);
    world.execute(fmv_d_x(8, A0)).expect("the first use");
    let is_it = |one: &&Connection| one.caller == CLIENT && one.callee == SERVER;
    let connection = model.connections.iter().find(is_it).expect("a connection").clone();
    // Nobody else did.
    world.call_any(&connection);
    let back = world.reply(0, 0);
    assert_eq!(world.status_of_unit(), 2 << 13);
    assert_eq!(saves(&back, THREAD), 0, "it stays the owner");
    for saved in [13, 0, 0] {
        world.fill_queue(connection.crossing.queue, &connection.activations);
        world.call_any(&connection);
        let taken = world.execute(fmv_d_x(8, A0)).expect("another's first use");
        assert_eq!(saves(&taken, THREAD), saved, "what a function preserves, if it was written");
        world.reply(0, 0);
        world.assert_at(CLIENT, RESUME);
        assert_eq!((world.status_of_unit(), world.machine.get_float(8)), (2 << 13, 5));
        assert!(!world.is_older());
    }
}

#[test]
fn only_an_interrupted_owners_status_is_changed() {
    let (world, model) = prepared(&[CLIENT, SERVER, BACKEND], 8);
    look_for_the_status(&world, &model);
    come_back(&world, &model);
}

/// After each instruction of a program that uses the unit the thread is interrupted, another one uses the unit, or does not, and the
/// program goes on: nothing of it is changed.
#[test]
fn a_user_is_stopped_everywhere() {
    let program: Vec<u32> = (0..32)
        .flat_map(|register| [addi(A0, A0, 3), fmv_d_x(register, A0), fsd(register, A1, 0)])
        .chain([csrrwi(ZERO, FCSR, 7), fld(1, A1, 0), fmv_x_d(A2, 31), csrrs(A3, FCSR, ZERO), NOP])
        .collect();
    for uses in [false, true] {
        let (mut world, _) = prepared(&USERS, 9);
        world.start(CLIENT, &program);
        world.machine.set(A1, at(CLIENT, DATA));
        let stack = at(SCHEDULER, STACK - 64);
        let mut undisturbed = world.clone();
        let end = at(CLIENT, PROGRAM) + 4 * program.len() as u64 - 4;
        let mut stops = 0;
        while undisturbed.machine.program_counter != end {
            world.machine.csr.stimecmp = 0;
            world.cross();
            world.machine.csr.stimecmp = u64::MAX;
            let (entry, top, stub) = (at(BACKEND, ENTRY), at(BACKEND, STACK), at(BACKEND, STUB));
            let arguments = [2, BACKEND as u64, entry, top, 0, stub, 0, 0];
            world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
            world.call(PORTAL_SWITCH as u64, stack, [0, 0, 2, 0, 0, 0, 0, 0]);
            if uses {
                world.execute(csrrwi(ZERO, FCSR, 31)).expect("its first use");
                assert_eq!(world.registers_of_unit()[..32], [0; 32]);
                (0..32).for_each(|register| {
                    world.machine.set(A0, 0xbad);
                    assert!(world.execute(fmv_d_x(register, A0)).is_none(), "it has the unit");
                });
            }
            world.machine.csr.stimecmp = 0;
            world.cross();
            world.machine.csr.stimecmp = u64::MAX;
            let switch = [0, 0, THREAD as u64, 0, 0, 0, 0, 0];
            world.call(PORTAL_SWITCH as u64, stack, switch);
            for world in [&mut world, &mut undisturbed] {
                let counter = world.machine.program_counter;
                world.cross();
                if world.machine.program_counter == counter {
                    world.cross();
                }
            }
            let state = |world: &World| (world.machine.registers(), world.machine.program_counter);
            assert_eq!(state(&world), state(&undisturbed));
            let word = |world: &World| world.word(at(CLIENT, DATA));
            assert_eq!(word(&world), word(&undisturbed));
            stops += 1;
        }
        assert_eq!(stops, program.len() - 1);
    }
}
