//! Processes: the client is their server. The test plays it and two processes, instruction by instruction.

use crate::fences::SATP_CORES;
use crate::mutation::{noticed, without};
use crate::process_float;
use crate::process_requests::requests;
use crate::traps::interrupt_for;
use crate::world::processes::*;
use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap::USER_STATUS;
use cairn_abi::domain::PORTALS_DESCRIBED;
use cairn_abi::privileged::*;
use cairn_abi::process::*;
use cairn_abi::thread::{FRAME_RETURN, FRAME_SCRATCH, TRAP_FRAME, TRAP_INTERRUPTS, TRAP_STATUS};
use cairn_abi::{DomainId, Error, domain};
use cairn_emulator::encode;
use cairn_emulator::mmu::{ACCESSED, DIRTY, READ, USER, VALID};
use cairn_emulator::register::*;
use cairn_emulator::{Fencing, Interrupt, Options};
use cairn_portal::Fences;

pub fn prepared(seed: u64) -> (World, Made) {
    let mut world = World::new(seed);
    let made = world.serve_processes();
    world.make_processes();
    (world, made)
}

/// Calls of a process: by any index, to the server, and back, with the counts.
fn calls(world: &mut World, indexes: &[u64]) -> Vec<(u64, u64)> {
    let mut counts = Vec::new();
    for (number, index) in (0..2).cycle().zip(indexes) {
        let mut registers = world.random_registers();
        registers[usize::from(T0)] = *index;
        let out = world.resume(number, &registers, 0);
        let within = world.pass();
        world.assert_in_server(BY_CALL, &registers, 0);
        counts.push((within, out));
    }
    counts
}

const INDEXES: [u64; 10] =
    [0, 1, 4, 16, 511, PORTALS_DESCRIBED as u64, 513, 1 << 20, 1 << 61, u64::MAX];

#[test]
fn a_process_calls_with_every_index() {
    let (mut world, _) = prepared(130);
    let counts = calls(&mut world, &INDEXES);
    // With the `ecall`; on the way out with the one that puts the end into one line.
    assert_eq!(counts[0], (22, 22), "by index 0, and the way out");
    assert!(counts[1..5].iter().all(|count| *count == (28, 22)), "within the table");
    assert!(counts[5..].iter().all(|count| *count == (25, 22)), "behind the table");
    for _ in 0..200 {
        let random = world.random.u64(..) >> world.random.u32(..64);
        calls(&mut world, &[random, random % PORTALS_DESCRIBED as u64]);
    }
}

fn faults(world: &mut World) -> u64 {
    let mut count = 0;
    for number in 0..2 {
        for address in [0, 8, PROCESS + 16 * PAGE_SIZE, at(CLIENT, DATA), CELLS, STATUS_PAGE] {
            let mut registers = world.random_registers();
            registers[usize::from(A1)] = address;
            world.resume(number, &registers, 4);
            count = world.pass();
            world.assert_in_server(BY_FAULT, &registers, 4);
            assert_eq!((world.status(STATUS_CAUSE), world.status(STATUS_VALUE)), (13, address));
            // The server maps a page there, or gives it what it wanted to read.
            registers[usize::from(A1)] = PROCESS + PAGE_SIZE;
            world.resume(number, &registers, 4);
            world.pass();
            assert_eq!(world.machine.get(A0), 1000 + number, "each has its own");
            world.machine.program_counter = PROCESS;
            let registers = world.machine.registers();
            world.pass();
            world.assert_in_server(BY_CALL, &registers, 0);
        }
    }
    count
}

#[test]
fn an_exception_of_a_process_enters_the_server() {
    let (mut world, _) = prepared(131);
    assert_eq!(
        faults(&mut world),
        76,
        "with the instruction itself, and what the trap entry saves"
    );
}

/// A process is interrupted, another thread of the server leaves it for the server; `wants`: whether it does.
fn interrupts(world: &mut World, wants: bool) -> i64 {
    let registers = world.random_registers();
    world.resume(1, &registers, 8);
    world.start_other();
    // The thread's block is another thread's, which was interrupted at the same depth.
    let process = base_header().wrapping_add_signed(PROCESS_FRAME + FRAME_RETURN);
    let back = world.word(process);
    world.set_word(process, back + 16);
    assert_eq!(world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6), Error::WouldBlock.status());
    world.set_word(process, back);
    let status_word = process.wrapping_add_signed(TRAP_FRAME + TRAP_STATUS);
    for word in 0..31 {
        world.set_word(process.wrapping_add_signed(SERVER_FRAME + FRAME_SCRATCH + word * 8), !1);
    }
    let status = if wants { world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6) } else { 0 };
    assert_eq!(world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6) == 0, !wants, "once");
    let moved = status_word.wrapping_add_signed(SERVER_FRAME);
    assert_eq!(world.word(moved), USER_STATUS);
    let interrupts = TRAP_INTERRUPTS - TRAP_STATUS;
    assert_eq!(world.word(moved.wrapping_add_signed(interrupts)), INTERRUPTS_ON);
    world.back_to_carrier();
    world.assert_in_server(BY_INTERRUPT, &registers, 8);
    status
}

/// What is known of a thread that runs is from before.
fn interrupts_itself(world: &mut World) {
    let registers = world.random_registers();
    world.resume(1, &registers, 0);
    world.start_other();
    world.back_to_carrier();
    world.pass();
    world.assert_in_server(BY_CALL, &registers, 0);
    assert_eq!(world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6), Error::WouldBlock.status());
}

#[test]
fn a_process_is_interrupted_for_its_server() {
    for wants in [true, false] {
        let (mut world, _) = prepared(132);
        assert_eq!(interrupts(&mut world, wants), 0);
        calls(&mut world, &INDEXES);
    }
    // In the server, by nobody else; and where there is no carrier.
    let (mut world, _) = prepared(132);
    interrupts_itself(&mut world);
    let would_block = Error::WouldBlock.status();
    assert_eq!(world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6), would_block);
    world.start_other();
    assert_eq!(world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6), would_block);
    interrupt_for(&mut world, THREAD);
    calls(&mut world, &[7]);
    let mut world = World::new(132);
    world.serve_processes();
    assert_eq!(world.operate(PORTAL_PROCESS_INTERRUPT, 5, 6), would_block);
}

/// Interrupted and gone on with, as if nothing had been.
#[test]
fn an_interrupted_process_goes_on() {
    let (mut world, _) = prepared(133);
    let registers = world.random_registers();
    world.resume(0, &registers, 8);
    world.machine.csr.stimecmp = 0;
    world.pass();
    world.assert_upcall(Upcall::Timer, THREAD, Interrupt::Timer.code(), 0);
    world.machine.csr.stimecmp = u64::MAX;
    world.scramble();
    world.machine.set(T0, 0);
    world.machine.program_counter = at(SCHEDULER, CALL);
    world.pass();
    assert_eq!(world.machine.registers(), registers);
    assert_eq!(world.machine.csr.satp, world.spaces[DOMAINS_END].satp());
}

fn pending(world: &mut World) {
    for pending in [1, 1 << 63] {
        world.set_status(STATUS_PENDING, pending);
        world.set_status(STATUS_PC, PROCESS + 8);
        world.set_status(STATUS_T0, 77);
        let mut registers = world.random_registers();
        for register in 1..32 {
            world.machine.set(register, registers[usize::from(register)]);
        }
        world.machine.set(T0, 0);
        world.machine.program_counter = at(CLIENT, CALL);
        world.pass();
        registers[usize::from(T0)] = 77;
        world.assert_in_server(BY_INTERRUPT, &registers, 8);
    }
    world.set_status(STATUS_PENDING, 0);
}

#[test]
fn what_is_pending_comes_first() {
    let (mut world, _) = prepared(134);
    pending(&mut world);
    calls(&mut world, &INDEXES);
}

/// Only a thread that began in the server, in no call.
#[test]
fn not_every_thread_carries_processes() {
    let (mut world, _) = prepared(135);
    let refused = Error::BadArgument.status();
    assert_eq!(world.begin_to_carry(), refused, "it does already");
    let mut world = World::new(135);
    world.serve_processes();
    let there = world.connect("npi", CLIENT, SERVER);
    let back = world.connect("npi", SERVER, CLIENT);
    world.call_any(&there);
    world.call_any(&back);
    assert_eq!(world.begin_to_carry(), refused, "it is in a call");
}

/// A page of a process is exchanged for another: what it reads after the fence.
fn reads_after_fence(world: &mut World, address: u64) -> u64 {
    let registers = |world: &mut World| {
        let mut registers = world.random_registers();
        registers[usize::from(A1)] = PROCESS + PAGE_SIZE;
        registers
    };
    let read = |world: &mut World| {
        let registers = registers(world);
        world.resume(0, &registers, 4);
        world.pass();
        let found = world.machine.get(A0);
        world.machine.program_counter = PROCESS;
        world.pass();
        found
    };
    assert_eq!(read(world), 1000);
    let entry = (MEMORY + 3 * PAGE_SIZE) >> 2 | READ | USER | ACCESSED | DIRTY | VALID;
    assert_eq!(world.operate(PORTAL_PROCESS_MAP, PROCESS / PAGE_SIZE + 1, entry), 0);
    assert_eq!(world.operate(PORTAL_PROCESS_FENCE, 0, address), 0);
    read(world)
}

#[test]
fn a_fence_reaches_the_space_that_it_names() {
    for (fencing, fences, asid_bits) in [
        (Fencing::Operand, Fences::ByAsid, 16),
        (SATP_CORES[1], Fences::BySatp, 16),
        (Fencing::Operand, Fences::WithoutAsids, 0),
    ] {
        let options = Options { fencing, asid_bits, ..Options::default() };
        for address in [0, PROCESS + PAGE_SIZE] {
            let mut world = World::with(options, fences, 138);
            world.serve_processes();
            world.make_processes();
            assert_eq!(
                reads_after_fence(&mut world.clone(), address),
                1001,
                "{fences:?} {address:#x}"
            );
            calls(&mut world, &INDEXES);
            faults(&mut world);
        }
    }
}

/// The server dies: whatever its thread is in ends with it.
fn dies(world: &mut World, in_process: bool) {
    let registers = world.random_registers();
    if in_process {
        world.resume(0, &registers, 8);
    }
    world.machine.csr.stimecmp = 0;
    world.pass();
    world.machine.csr.stimecmp = u64::MAX;
    let frames = world.frames();
    assert_eq!(frames.len(), if in_process { 3 } else { 4 });
    let frames = &frames[..frames.len() - 1];
    assert!(frames.iter().all(|frame| frame.into == DomainId(CLIENT as u16)), "{frames:?}");
    let (table, alive) = (world.table(CLIENT), domain::FIELD_ALIVE);
    let stack = at(SCHEDULER, STACK - 64);
    world.start_other_in_scheduler(stack);
    world.set_word(table.wrapping_add_signed(alive), 0);
    for frame in frames {
        let offset = frame.header % PAGE_SIZE;
        world.call(PORTAL_UNWIND as u64, stack, [THREAD as u64, offset, 0, 0, 0, 0, 0, 0]);
        assert_eq!(world.machine.get(A0), 0, "{frame:?}");
    }
    world.prepare_call(PORTAL_SWITCH as u64, stack, [0, 0, THREAD as u64, 0, 0, 0, 0, 0]);
    world.pass();
    assert_eq!(world.running(), SCHEDULER);
    assert_eq!(world.machine.program_counter, World::upcall_entry(None), "the thread ends");
    assert_eq!(world.machine.csr.sscratch, base_header());
    world.set_word(table.wrapping_add_signed(alive), 1);
}

impl World {
    /// The interrupted thread stays as it is, and the scheduler goes on as another one, which can do something with it.
    fn start_other_in_scheduler(&mut self, stack: u64) {
        let arguments = [
            OTHER as u64,
            SCHEDULER as u64,
            at(SCHEDULER, RESUME),
            stack,
            0,
            at(SCHEDULER, STUB),
            0,
            0,
        ];
        self.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
        self.prepare_call(PORTAL_SWITCH as u64, stack, [0, 0, OTHER as u64, 0, 0, 0, 0, 0]);
        self.pass();
        self.machine.csr.sie = 0;
    }
}

/// Who is in a process goes on in its server's space, where that has nothing any more.
#[test]
fn a_process_ends_with_its_server() {
    let (mut world, _) = prepared(141);
    let registers = world.random_registers();
    world.resume(0, &registers, 8);
    world.machine.csr.stimecmp = 0;
    world.pass();
    world.machine.csr.stimecmp = u64::MAX;
    let frame = world.machine.csr.sscratch;
    let stack = at(SCHEDULER, STACK - 64);
    world.start_other_in_scheduler(stack);
    let arguments = [THREAD as u64, frame % PAGE_SIZE, 0, 0, 0, 0, 0, 0];
    world.call(PORTAL_DIVERT as u64, stack, arguments);
    assert_eq!(world.machine.get(A0), 0);
    world.prepare_call(PORTAL_SWITCH as u64, stack, [0, 0, THREAD as u64, 0, 0, 0, 0, 0]);
    world.pass();
    assert_eq!(world.machine.csr.satp, world.spaces[CLIENT].satp());
    assert_eq!(world.machine.program_counter, PROCESS + 8);
    world.pass();
    world.assert_in_server(BY_FAULT, &registers, 8);
}

#[test]
fn a_carrier_ends_with_its_server() {
    for in_process in [true, false] {
        let (mut world, _) = prepared(139);
        dies(&mut world, in_process);
    }
}

/// Everything but floating point, from before the carrier is one.
fn everything(world: &mut World) {
    let mut early = world.clone();
    world.make_processes();
    assert_eq!(world.begin_to_carry(), Error::BadArgument.status());
    calls(world, &INDEXES);
    faults(world);
    pending(world);
    // Another page stays as the hart has it.
    for (address, found) in [(0, 1001), (PROCESS + PAGE_SIZE, 1001), (PROCESS, 1000)] {
        assert_eq!(reads_after_fence(&mut world.clone(), address), found);
    }
    for wants in [true, false] {
        interrupts(&mut world.clone(), wants);
    }
    interrupts_itself(&mut world.clone());
    for in_process in [true, false] {
        dies(&mut world.clone(), in_process);
    }
    early.operate(PORTAL_PROCESS_INTERRUPT, 5, 6);
    let mut other = world.clone();
    assert_ne!(other.operate(PORTAL_PROCESS_INTERRUPT, 5, 6), 0);
    requests(world);
}

/// Bytes of code for one of several entries.
const ENTRY_SIZE: u64 = 24;

#[test]
fn every_instruction_matters() {
    let mut world = World::new(140);
    let made = world.serve_processes();
    everything(&mut world.clone());
    process_float::everything(&mut world.clone());
    let codes = [made.call.0, made.call.1, made.back, made.fault, made.illegal];
    let [begin, _, map, several, link, clear, .., float] = made.operations[..] else {
        panic!("the server's portals in the order of their indexes");
    };
    let leave = world.nucleus.symbol("service_float_leave");
    let end = world.nucleus.symbol("service_float_resume");
    for address in (leave..end).step_by(4) {
        let is_noticed = noticed(&without(&world, address), process_float::everything);
        assert!(is_noticed, "nobody notices the absence of what is at {:#x}", address - leave);
    }
    let word = |address: u64| (world.word(address & !7) >> (8 * (address & 7))) as u32;
    let is_jump = |at: &u64| word(several + at) & 0xfffff == 0x58067;
    let before_entries = (0..).step_by(4).find(is_jump).expect("a jump to the entries") + 4;
    for code in codes.into_iter().chain(made.operations.clone()) {
        for address in (code..).step_by(4) {
            let word = word(address);
            // Entries of several between the first and the last are written as these.
            let number = address.wrapping_sub(code + before_entries) / ENTRY_SIZE;
            if code == several && (1..MAPPED_MAXIMUM as u64 - 1).contains(&number) {
                continue;
            }
            match word {
                // Behind the last end: nothing, or what stands before the next portal.
                0 => break,
                0x0000_006f | encode::NOP => continue,
                // `li t3, 0` to `li t5, 0` of requests of the pool: comparisons left zero there.
                0x0000_0e13 | 0x0000_0e93 | 0x0000_0f13
                    if [map, several, link, clear].contains(&code) =>
                {
                    continue;
                }
                // Whether it has the unit still: if not asked, what is saved is loaded again.
                0x000e_3e83 | 0x007e_8463 if code == made.illegal => continue,
                // `li t2, FS` in the portal alone: what was read there turns the unit off as well; `li t5, 0`: so does its end.
                0x0000_63b7 | 0x0000_0f13 if code == float => continue,
                // `li a0, 0` where the argument was counted down to it.
                0x0000_0513 if code == float => continue,
                _ => {}
            }
            let world = without(&world, address);
            let is_of_float = [begin, made.illegal, float].contains(&code);
            assert!(
                is_of_float && noticed(&world, process_float::everything)
                    || noticed(&world, everything),
                "nobody notices the absence of {word:#010x} at {:#x} of {code:#x}",
                address - code,
            );
        }
    }
}
