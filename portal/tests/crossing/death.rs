//! Frames of dead domains become error returns, whatever they hold.

use crate::calls::{Buffer, words_beside_the_value};
use crate::run::*;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::thread::*;
use cairn_emulator::Interrupt;
use cairn_emulator::register::*;
use cairn_portal::State;
use cairn_portal::literal::{LITERAL_MARK, LITERAL_RETURN, MARK_DEAD, MARK_RETURN};

/// What a frame can hold: nothing, registers, an activation, copies, windows; and replies of several words.
const KINDS: [&str; 16] = [
    "smi", "spi", "nmi", "npi", "npr", "nmwr", "spwrw", "npwww", "nmi4", "npr4", "kmi", "kpi",
    "kpi3", "kmr", "kpwr", "kprrw3",
];

impl World {
    /// Does what the service `unwind` does: the frame leaves through its dead entry.
    pub fn mark_dead(&mut self, frame: u64) {
        let back = self.word(frame.wrapping_add_signed(FRAME_RETURN));
        let literal = |offset: i64| self.word(back.wrapping_add_signed(offset));
        assert_eq!(literal(LITERAL_MARK), MARK_RETURN);
        let dead_way = self.nucleus.symbol("kernel_inside_dead");
        let dead = literal(LITERAL_RETURN);
        assert_eq!(self.word(dead.wrapping_add_signed(LITERAL_MARK)), MARK_DEAD);
        self.set_word(frame.wrapping_add_signed(FRAME_RETURN), dead);
        self.set_word(frame.wrapping_add_signed(FRAME_RA), dead_way);
    }

    /// The first activation of the connection is free again, its windows are closed.
    fn assert_released(&self, connection: &Connection) {
        if let Some(first) = connection.activations.first() {
            assert_eq!(self.word(connection.crossing.queue), first.descriptor);
            self.assert_windows_closed(first);
        }
    }

    /// Every error return leaves the buffers as they were: nothing is copied back.
    pub fn assert_dead(
        &mut self,
        connection: &Connection,
        before: &[u64; 32],
        buffers: &[Buffer],
        callee: &[u64; 32],
    ) {
        self.assert_at(connection.caller, RESUME);
        let reply = (self.machine.get(A0) as i64, self.machine.get(A1));
        assert_eq!(reply, (Error::Dead.status(), 0));
        for register in words_beside_the_value(&connection.specification) {
            assert_eq!(self.machine.get(*register), 0, "{} of the reply", name(*register));
        }
        // An aborted call on a shared stack puts the pointer back as well.
        let mut callee = *callee;
        callee[usize::from(SP)] = before[usize::from(SP)];
        // What a minimal portal does not restore belongs to whoever ran last: the scheduler, or a
        // domain that the caller never called.
        for register in SAVED.iter().chain(&TEMPORARY).chain(&ARGUMENTS) {
            callee[usize::from(*register)] = 0;
        }
        if connection.specification.state == State::Minimal {
            for register in &ARGUMENTS[2..] {
                assert_eq!(self.machine.get(*register), 0, "{}", name(*register));
            }
            // Releasing the activation and closing windows use more of them.
            for register in
                [T0, T3, T4, T5, T6].iter().filter(|_| connection.activations.is_empty())
            {
                assert_eq!(self.machine.get(*register), 0, "{}", name(*register));
            }
        }
        self.check_caller(connection, before, &callee);
        for buffer in buffers.iter().filter(|buffer| !buffer.mapped() && buffer.length() > 0) {
            assert_eq!(self.bytes(buffer.pointer, buffer.length()), buffer.content);
        }
    }
}

#[test]
fn the_middle_of_three_is_dead() {
    for first in KINDS.iter().filter(|kind| !kind.starts_with('k')) {
        for second in KINDS {
            if second.starts_with('s') {
                // Server and backend have no stack group in common.
                continue;
            }
            for seed in 0..6 {
                let mut world = World::new(seed);
                let outer = world.connect(first, CLIENT, SERVER);
                let inner = world.connect(second, SERVER, World::callee(second, BACKEND));
                let (buffers, before) = world.checked_call(&outer);
                world.checked_call(&inner);
                let frame = world.machine.csr.sscratch;
                world.mark_dead(frame);
                let back = world.reply(0, 5);
                world.assert_released(&inner);
                world.assert_released(&outer);
                world.assert_dead(&outer, &before, &buffers, &back.before);
                assert_eq!(world.machine.csr.sscratch, base_header());
                world.round_trip(&outer);
            }
        }
    }
}

#[test]
fn two_in_the_middle_are_dead() {
    for kind in ["nmi", "npi", "npr", "nmwr", "npwww"] {
        for seed in 0..6 {
            let mut world = World::new(seed);
            let first = world.connect(kind, CLIENT, SERVER);
            let second = world.connect(kind, SERVER, BACKEND);
            let third = world.connect(kind, BACKEND, SERVER);
            let (buffers, before) = world.checked_call(&first);
            world.checked_call(&second);
            world.mark_dead(world.machine.csr.sscratch);
            world.checked_call(&third);
            world.mark_dead(world.machine.csr.sscratch);
            let back = world.reply(0, 5);
            for connection in [&first, &second, &third] {
                world.assert_released(connection);
            }
            world.assert_dead(&first, &before, &buffers, &back.before);
        }
    }
}

#[test]
fn the_thread_of_a_dead_domain_ends() {
    for kind in KINDS {
        for seed in 0..6 {
            let mut world = World::new(seed);
            let connection = world.connect(kind, CLIENT, World::callee(kind, SERVER));
            world.checked_call(&connection);
            world.mark_dead(world.machine.csr.sscratch);
            world.reply(0, 5);
            assert_eq!(world.running(), SCHEDULER);
            assert_eq!(world.machine.program_counter, World::upcall_entry(None));
            assert_eq!(world.machine.get(A1), thread_block(THREAD) >> 12);
            world.assert_released(&connection);
            assert_eq!(world.machine.csr.sscratch, base_header());
        }
    }
}

#[test]
fn a_callee_that_faults_becomes_an_error_of_the_caller() {
    for kind in KINDS {
        for seed in 0..6 {
            let mut world = World::new(seed);
            let server = World::callee(kind, SERVER);
            let connection = world.connect(kind, CLIENT, server);
            let (buffers, before) = world.checked_call(&connection);
            world.scramble_what_runs();
            world.machine.set(A1, at(server, NOTHING));
            world.machine.program_counter = at(server, LOAD);
            let callee = world.cross().before;
            world.assert_upcall(Upcall::Fault, THREAD, 13, at(server, NOTHING));
            world.mark_dead(world.machine.csr.sscratch);
            let scheduler = world.reply(0, 0).before;
            assert_ne!(callee[usize::from(S0)], world.machine.get(S0));
            world.assert_released(&connection);
            world.assert_dead(&connection, &before, &buffers, &scheduler);
        }
    }
}

#[test]
fn an_interrupted_domain_that_is_dead_ends_the_thread() {
    let mut world = World::new(40);
    world.machine.csr.stimecmp = 0;
    world.cross();
    assert_eq!(world.machine.program_counter, World::upcall_entry(Upcall::Timer));
    world.machine.csr.stimecmp = u64::MAX;
    world.mark_dead(world.machine.csr.sscratch);
    world.reply(0, 0);
    assert_eq!(world.machine.program_counter, World::upcall_entry(None));
}

#[test]
fn a_call_into_the_scheduler_whose_caller_is_dead() {
    for seed in 0..6 {
        let mut world = World::new(seed);
        let outer = world.connect("npwr", CLIENT, SERVER);
        let inner = world.connect("rpci", SERVER, SCHEDULER);
        let (buffers, before) = world.checked_call(&outer);
        world.checked_call(&inner);
        assert_eq!(world.machine.csr.sie, 0);
        world.mark_dead(world.machine.csr.sscratch);
        let back = world.reply(0, 1);
        world.assert_released(&outer);
        world.assert_dead(&outer, &before, &buffers, &back.before);
        assert_eq!(world.machine.csr.sie, INTERRUPTS_ON);
    }
}

/// Whoever waits for the activation of an unwound frame is told.
#[test]
fn a_dead_frame_wakes_who_waits_for_its_activation() {
    let mut world = World::new(42);
    let outer = world.connect("npi", CLIENT, SERVER);
    let inner = world.connect("npi", SERVER, BACKEND);
    world.checked_call(&outer);
    world.checked_call(&inner);
    world.mark_dead(world.machine.csr.sscratch);
    world.set_word(inner.crossing.waiters, 1);
    world.reply(0, 5);
    assert_eq!(world.machine.csr.pending(), Interrupt::Software.bit());
    world.assert_at(CLIENT, RESUME);
    let interrupted = world.cross();
    assert_eq!(interrupted.journal.traps.len(), 1);
    world.assert_upcall(Upcall::Software, THREAD, Interrupt::Software.code(), 0);
    assert_eq!(world.machine.csr.pending(), 0, "acknowledged");
}

/// What a call out of the kernel domain can hold.
const FROM_KERNEL: [&str; 8] = ["nki", "nkr", "nkw", "nkwrw", "nki4", "rki", "kki", "kki3"];

/// A world in which a thread of the client is in the kernel domain and has called from there.
pub fn through_kernel(
    outer: &str,
    inner: &str,
    seed: u64,
) -> (World, [Connection; 2], [[u64; 32]; 2]) {
    let mut world = World::new(seed);
    let outer = world.connect(outer, CLIENT, KERNEL_SERVER);
    let inner = world.connect(inner, KERNEL_SERVER, World::callee(inner, SERVER));
    let (_, before) = world.checked_call(&outer);
    let (_, inner_before) = world.checked_call(&inner);
    (world, [outer, inner], [before, inner_before])
}

#[test]
fn who_calls_from_the_kernel_domain_is_dead() {
    for kind in ["kmi", "kpi", "kpi3"] {
        for inner in FROM_KERNEL {
            for seed in 0..4 {
                let (mut world, [outer, inner], [before, _]) = through_kernel(kind, inner, seed);
                world.mark_dead(world.machine.csr.sscratch);
                let back = world.reply(0, 5);
                world.assert_released(&inner);
                world.assert_dead(&outer, &before, &[], &back.before);
                assert_eq!(world.machine.csr.sscratch, base_header());
                // Its stack in the kernel domain is empty again: this looks at it.
                world.round_trip(&outer);
            }
        }
    }
}

#[test]
fn who_is_called_from_the_kernel_domain_dies() {
    for inner in FROM_KERNEL.into_iter().filter(|inner| !inner.starts_with('r')) {
        for seed in 0..4 {
            let (mut world, [outer, inner], [before, inner_before]) =
                through_kernel("kpi", inner, seed);
            let callee = inner.callee;
            world.scramble_what_runs();
            world.machine.set(A1, at(callee, NOTHING));
            world.machine.program_counter = at(callee, LOAD);
            world.cross();
            world.assert_upcall(Upcall::Fault, THREAD, 13, at(callee, NOTHING));
            world.mark_dead(world.machine.csr.sscratch);
            let scheduler = world.reply(0, 0).before;
            world.assert_released(&inner);
            world.assert_dead(&inner, &inner_before, &[], &scheduler);
            world.put_back(&before);
            world.checked_return(&outer, vec![], &before);
            world.round_trip(&outer);
        }
    }
}
