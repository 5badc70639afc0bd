//! After every instruction of a program an interrupt comes, another thread runs, and the program goes on: nothing of
//! it is changed.

use crate::world::*;
use cairn_abi::address::{PAGE_SIZE, kernel_stack};
use cairn_abi::arch::call::INTERRUPTS_OFF;
use cairn_abi::privileged::*;
use cairn_abi::thread::{self, *};
use cairn_emulator::csr::{ControlRegisters, STATUS_SIE, STATUS_SPP, STATUS_SUM};
use cairn_emulator::encode::*;
use cairn_emulator::register::*;
use cairn_emulator::{Privilege, Step};

/// Loads, stores, arithmetic, a branch back, a reservation that is not held over an instruction: all of it can be
/// stopped anywhere. `a0` points to the data, `a1` counts.
fn program() -> Vec<u32> {
    vec![
        addi(A1, ZERO, 3),
        ld(T0, A0, 0),
        add(T1, T0, A1),
        sd(T1, A0, 8),
        mul(T2, T1, T0),
        addi(SP, SP, -16),
        sd(T2, SP, 0),
        ld(S2, SP, 0),
        addi(SP, SP, 16),
        xor(S3, S3, S2),
        amoadd_d(S4, T2, A0),
        addi(A1, A1, -1),
        bne(A1, ZERO, -11 * 4),
        auipc(T6, 0),
        jal(RA, 8),
        NOP,
        NOP,
    ]
}

/// What runs must find again. Of `sstatus`, what decides how it runs; SPIE and SPP are a trap's.
type State = ([u64; 32], u64, Privilege, [u64; 4]);

fn state(world: &World) -> State {
    let machine = &world.machine;
    let ControlRegisters { sstatus, sscratch, sie, satp, .. } = machine.csr;
    // In user mode interrupts are taken whatever SIE says.
    let interrupts = if machine.privilege == Privilege::User { 0 } else { STATUS_SIE };
    let how = sstatus & (STATUS_SUM | STATUS_SPP | interrupts);
    let mut registers = machine.registers();
    if machine.privilege == Privilege::Supervisor {
        // The topmost frame, wherever it went on: a trap takes it from `sscratch`.
        registers[usize::from(TP)] = 0;
    }
    (registers, machine.program_counter, machine.privilege, [how, sscratch, sie, satp])
}

/// A world whose thread is at the beginning of the program, in `domain`.
fn prepared(domain: usize) -> World {
    let mut world = World::new(110);
    world.start(domain, &program());
    let data = at(domain, DATA);
    world.machine.set(A0, data);
    world.set_word(data, 5);
    world
}

impl World {
    /// The thread runs `program` in a domain, nothing on its invocation stack but the base frame.
    pub fn start(&mut self, number: usize, program: &[u32]) {
        let address = at(number, PROGRAM);
        self.write_bytes(address, &bytes(program));
        let (base, table) = (base_header(), self.table(number));
        self.set_word(base.wrapping_add_signed(thread::FRAME_TABLE), table);
        let began = thread::thread_block(THREAD).wrapping_add_signed(thread::FIELD_DOMAIN);
        self.set_word(began, number as u64);
        self.machine.program_counter = address;
        self.machine.csr.sscratch = base;
        self.scramble();
        if is_kernel(number) {
            self.machine.csr.satp = self.space_of(0);
            self.machine.privilege = Privilege::Supervisor;
            self.machine.csr.sstatus |= STATUS_SIE;
            self.machine.set(TP, base);
            self.machine.set(SP, kernel_stack(THREAD));
        } else {
            self.machine.csr.satp = self.space_of(number);
            self.machine.set(SP, at(number, STACK));
        }
    }
}

/// One instruction of the program.
fn advance(world: &mut World) {
    if world.machine.privilege == Privilege::Supervisor {
        world.check_privileged();
    }
    assert!(matches!(world.machine.step(), Step::Completed | Step::Trapped(_)));
}

/// Whether the next instruction can be preceded by an interrupt: not in a portal.
fn can_be_stopped(world: &World) -> bool {
    let machine = &world.machine;
    machine.privilege == Privilege::User || machine.csr.sstatus & STATUS_SIE != 0
}

/// A timer interrupt, another thread, an interrupt of that one, and back.
fn interrupt(world: &mut World) {
    let before = state(world);
    world.machine.journal.clear();
    world.machine.csr.stimecmp = 0;
    assert!(matches!(world.machine.step(), Step::Trapped(_)));
    world.run_kernel();
    world.machine.csr.stimecmp = u64::MAX;
    world.check_trap_frame(world.machine.csr.sscratch);
    let frame = world.machine.csr.sscratch;
    let counter = world.word(frame.wrapping_add_signed(TRAP_SEPC));
    assert_eq!(counter, before.1, "where it was stopped");
    let (stack, other) = (at(SCHEDULER, STACK - 64), 2);
    let (entry, top, stub) = (at(BACKEND, ENTRY), at(BACKEND, STACK), at(BACKEND, STUB));
    let arguments = [other, BACKEND as u64, entry, top, 77, stub, 0, 0];
    world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
    world.call(PORTAL_SWITCH as u64, stack, [0, 0, other, 0, 0, 0, 0, 0]);
    world.assert_at(BACKEND, ENTRY);
    world.scramble();
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    world.scramble();
    let goes_on = [0, 0, THREAD as u64, 0, 0, 0, 0, 0];
    world.prepare_call(PORTAL_SWITCH as u64, stack, goes_on);
    world.machine.step();
    while world.machine.program_counter != before.1 || world.machine.privilege != before.2 {
        world.check_privileged();
        assert!(matches!(world.machine.step(), Step::Completed));
    }
    assert_eq!(state(world), before, "after {counter:#x}");
}

/// Everything stopped once, at each step of the program; its result is what it is without.
fn stopped_everywhere(start: &World, domain: usize, length: usize) {
    let end = at(domain, PROGRAM) + 4 * length as u64;
    let mut undisturbed = start.clone();
    let mut stopped = start.clone();
    let (mut steps, mut stops) = (0, 0);
    while undisturbed.machine.program_counter != end {
        if can_be_stopped(&stopped) {
            interrupt(&mut stopped);
            stops += 1;
        }
        advance(&mut undisturbed);
        advance(&mut stopped);
        assert_eq!(state(&stopped), state(&undisturbed));
        steps += 1;
        assert!(steps < 1000, "the program ends");
    }
    let data = |world: &World| world.bytes(at(domain, DATA), DATA_PAGES * PAGE_SIZE);
    assert!(stops > 20 && data(&stopped) == data(&undisturbed));
}

#[test]
fn user_code_is_stopped_everywhere_and_goes_on() {
    stopped_everywhere(&prepared(CLIENT), CLIENT, program().len());
}

#[test]
fn code_in_the_kernel_domain_is_stopped_everywhere_and_goes_on() {
    stopped_everywhere(&prepared(KERNEL_SERVER), KERNEL_SERVER, program().len());
}

#[test]
fn a_copy_in_place_is_stopped_everywhere_and_goes_on() {
    let (world, _, program) = crate::in_place::prepared();
    stopped_everywhere(&world, CLIENT, program.len() - 1);
}

/// Where the data has the address of a portal, and where the program stores the reply.
const PORTAL: i32 = 32;
const REPLY: i32 = 40;

/// Three calls as they stand in the kernel domain. `s5` points to the data.
fn calls() -> Vec<u32> {
    vec![
        addi(S6, ZERO, 3),
        addi(A1, S6, 7),
        INTERRUPTS_OFF,
        ld(T1, S5, PORTAL),
        jalr(RA, T1, 0),
        sd(A0, S5, REPLY),
        addi(S6, S6, -1),
        bne(S6, ZERO, -6 * 4),
        NOP,
    ]
}

#[test]
fn calls_of_the_kernel_domain_are_stopped_everywhere_and_go_on() {
    for (specification, callee) in [("nki", SERVER), ("kki", KERNEL_BACKEND)] {
        let mut world = World::new(111);
        let connection = world.connect(specification, KERNEL_SERVER, callee);
        world.start(KERNEL_SERVER, &calls());
        let data = at(KERNEL_SERVER, DATA);
        world.machine.set(S5, data);
        world.set_word(data + PORTAL as u64, connection.code.call);
        let back = match is_kernel(callee) {
            true => vec![addi(A0, A1, 1), jalr(ZERO, RA, 0)],
            false => vec![addi(A0, A1, 1), addi(T0, ZERO, 0), ECALL],
        };
        world.write_bytes(at(callee, ENTRY), &bytes(&back));
        stopped_everywhere(&world, KERNEL_SERVER, calls().len());
    }
}
