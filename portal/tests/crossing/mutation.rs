//! Tests of the tests: takes instructions out, one at a time, and wants a check to fail.

mod pair;

use crate::traps::reserve_over_another_thread;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap::KERNEL_STATUS;
use cairn_abi::thread::*;
use cairn_emulator::csr::{STATUS_SIE, STATUS_SPIE, STATUS_SUM};
use cairn_emulator::encode;
use cairn_emulator::register::*;
use cairn_portal::literal::{LITERAL_RETURN, LITERALS_SIZE};
use pair::Pair;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether a check fails in the world.
pub fn noticed(world: &World, scenario: impl Fn(&mut World)) -> bool {
    let mut world = world.clone();
    catch_unwind(AssertUnwindSafe(|| scenario(&mut world))).is_err()
}

/// Takes the instruction at `address` out.
pub fn without(world: &World, address: u64) -> World {
    let mut world = world.clone();
    world.write_bytes(address, &encode::bytes(&[encode::NOP]));
    world
}

/// What can be taken out of a portal, and why.
const REDUNDANT: [(u32, &str); 10] = [
    (encode::NOP, "it puts the end into one line"),
    (encode_li(T0), "when a call with windows is aborted, closing them uses it"),
    (encode_li(T3), "the last window service left zero there; as t0"),
    (encode_li(T4), "as t0"),
    (encode_li(T5), "as t0"),
    (encode_li(T6), "when a call with an activation is aborted, releasing that uses it"),
    (encode_li(A1), "the abort entry below a dead frame clears it again, or who jumps there did"),
    (
        0xffd0_0513,
        "li a0, -3 in the dead entry of a call inside the kernel domain: another one jumps there",
    ),
    (0x0000_0317, "auipc t1, 0 in the dead entry: the jump to it left the same address in t1"),
    (0x0000_006f, "the jump behind sret: fetched, never executed"),
];

/// `li register, 0`.
const fn encode_li(register: u8) -> u32 {
    (register as u32) << 7 | 0x13
}

#[test]
fn every_instruction_of_a_portal_matters() {
    let out_of_kernel = ["nkcr", "nkw", "nkc4", "kkcia", "kk3"];
    let others = [
        "npr", "npcw", "npirw", "np=athc", "nmcr", "npc4", "kp=athc", "kmci", "kpc4", "kmr",
        "kpiw3",
    ];
    for kind in others.into_iter().chain(out_of_kernel) {
        let mut world = World::new(90);
        let (outer, caller) = match out_of_kernel.contains(&kind) {
            true => ("kpi", KERNEL_SERVER),
            false => ("npi", SERVER),
        };
        let outer = world.connect(outer, CLIENT, caller);
        let inner = world.connect(kind, caller, World::callee(kind, BACKEND));
        let again = kind.starts_with("nk").then(|| world.connect("kmi", BACKEND, KERNEL_SERVER));
        let between = kind.starts_with("nk").then(|| {
            [
                world.connect("kpi", CLIENT, KERNEL_BACKEND),
                world.connect("kki", KERNEL_BACKEND, KERNEL_SERVER),
            ]
        });
        let pair = Pair { outer, inner, again, between };
        let scenario = |world: &mut World| pair.everything(world);
        scenario(&mut world.clone());

        let code = pair.inner.code;
        let dead = world.word(code.back.wrapping_add_signed(LITERAL_RETURN));
        let end = code.call - LITERALS_SIZE as u64 + code.size as u64;
        let parts = [code.call..code.back - LITERALS_SIZE as u64, code.back..dead - 32, dead..end];
        for address in parts.into_iter().flat_map(|part| part.step_by(4)) {
            let word = world.word(address) as u32;
            if word != 0 && !noticed(&without(&world, address), scenario) {
                assert!(
                    REDUNDANT.iter().any(|(redundant, _)| *redundant == word),
                    "{kind}: nobody notices the absence of {word:#010x} at {:#x} of the call portal",
                    address - code.call
                );
            }
        }
    }
}

#[test]
fn every_instruction_of_a_wait_in_the_kernel_domain_matters() {
    let mut world = World::new(93);
    let outer = world.connect("kpi", CLIENT, KERNEL_SERVER);
    let inner = world.connect("nkci", KERNEL_SERVER, SERVER);
    let scenario = |world: &mut World| {
        let (_, before) = world.checked_call(&outer);
        let (arguments, stack) = ([5; 8], world.usual_stack(&inner));
        world.fill_queue(inner.crossing.queue, &[]);
        let crossed = world.call(inner.index, stack, arguments);
        world.assert_upcall(Upcall::StackWait, THREAD, 8, inner.crossing.queue);
        let status = world.machine.csr.sscratch.wrapping_add_signed(TRAP_STATUS);
        assert_eq!(world.word(status), KERNEL_STATUS);
        world.fill_queue(inner.crossing.queue, &inner.activations);
        world.reply(0, 0);
        world.assert_at(SERVER, ENTRY);
        assert_eq!(world.machine.get(A1), 5);
        let back = world.reply(0, 0);
        world.check_caller(&inner, &crossed.before, &back.before);
        world.put_back(&before);
        world.checked_return(&outer, vec![], &before);
    };
    scenario(&mut world.clone());
    let symbol = |name: &str| world.nucleus.symbol(name);
    let (wait, call) = (symbol("service_stack_wait_in_kernel"), symbol("kernel_call"));
    // Up to the jump of each. Two registers that the wait clears are nobody's, and that an index is too large, others test.
    let bound = |world: &World, address| world.word(address & !7) >> (8 * (address & 7));
    for address in (wait..wait + 12 * 4).chain(call..call + 8 * 4).step_by(4) {
        let word = bound(&world, address) as u32;
        let is_bound = (call + 4..call + 12).contains(&address);
        let clears = address == wait + 7 * 4 || address == wait + 8 * 4;
        if !is_bound && !clears && !noticed(&without(&world, address), scenario) {
            panic!("nobody notices the absence of {word:#010x} at {address:#x}");
        }
    }
}

/// A callee dies that was called inside the kernel domain: the frame of that call has neither page table nor `gp`.
fn die_inside(world: &mut World, [outer, inner]: &[Connection; 2]) {
    let (_, before) = world.checked_call(outer);
    world.checked_call(inner);
    world.machine.set(A1, at(inner.callee, NOTHING));
    world.machine.program_counter = at(inner.callee, LOAD);
    world.cross();
    world.mark_dead(world.machine.csr.sscratch);
    world.reply(0, 0);
    world.assert_at(inner.caller, RESUME);
    world.put_back(&before);
    world.checked_return(outer, vec![], &before);
}

/// What the trap entry, the trap return and the window services do beside calls.
fn use_nucleus(world: &mut World, pair: &Pair) {
    assert_eq!(reserve_over_another_thread(&mut world.clone()), 1);
    interrupt(world);
    world.call(u64::MAX, at(CLIENT, STACK), [0; 8]);
    assert_eq!(world.machine.get(A0) as i64, Error::NoPortal.status());
    assert_eq!(world.machine.get(T1), 0);
    world.assert_at(CLIENT, RESUME);
    pair.everything(world);
    interrupt(world);
    let connection = &pair.inner;
    let stack = world.usual_stack(connection);
    for pages in 1..=4 {
        let data = at(SERVER, DATA);
        let arguments =
            [data, pages * PAGE_SIZE, data + 4 * PAGE_SIZE, pages * PAGE_SIZE, 0, 0, 0, 0];
        let crossed = world.call(connection.index, stack, arguments);
        world.assert_at(BACKEND, ENTRY);
        let windows = [world.machine.get(A0), world.machine.get(A2)];
        for page in 0..pages {
            world.load(windows[0] + page * PAGE_SIZE).unwrap();
            world.store(windows[1] + page * PAGE_SIZE, 1).unwrap();
        }
        let back = world.reply(0, 0);
        world.check_caller(connection, &crossed.before, &back.before);
        world.call(connection.index, stack, [data, 0, data, 0, 0, 0, 0, 0]);
        for page in 0..pages {
            world.load(windows[0] + page * PAGE_SIZE).unwrap_err();
            world.load(windows[1] + page * PAGE_SIZE).unwrap_err();
        }
        world.reply(0, 0);
    }
    let (good, read_only) = (at(SERVER, DATA), at(SERVER, READ_ONLY));
    for (first, length, second, expected) in [
        (NUCLEUS, 8, good, Error::BadPointer),
        (NUCLEUS, PAGE_SIZE, good, Error::BadPointer),
        (at(SERVER, NOTHING), 8, good, Error::BadPointer),
        (at(SERVER, NOTHING), 4 * PAGE_SIZE, good, Error::BadPointer),
        (at(SERVER, SOURCE_SIZE) - PAGE_SIZE, 2 * PAGE_SIZE, good, Error::BadPointer),
        (at(SERVER, EXECUTE_ONLY), PAGE_SIZE, good, Error::BadPointer),
        (good + 1, PAGE_SIZE, good, Error::NotPageAligned),
        (good, WINDOW_MAXIMUM + 1, good, Error::TooLarge),
        (good, PAGE_SIZE, read_only, Error::BadPointer),
        (good, 4 * PAGE_SIZE, at(CLIENT, DATA), Error::BadPointer),
    ] {
        let arguments = [first, length, second, PAGE_SIZE, 0, 0, 0, 0];
        let crossed = world.call(connection.index, stack, arguments);
        world.assert_at(SERVER, RESUME);
        assert_eq!(world.machine.get(A0) as i64, expected.status());
        world.check_caller(connection, &crossed.before, &crossed.before);
        let readable = [(first, length)];
        assert_eq!(crossed.journal.user_reads_outside(&readable), []);
    }
    // A copy that cannot be written back.
    let crossed = world.call(connection.index, stack, [good, 3, read_only, 9, 0, 0, 0, 0]);
    world.assert_at(BACKEND, ENTRY);
    let back = world.reply(0, 3);
    world.assert_at(SERVER, RESUME);
    let reply = (world.machine.get(A0) as i64, world.machine.get(A1));
    assert_eq!(reply, (Error::BadPointer.status(), 0));
    world.check_caller(connection, &crossed.before, &back.before);
    interrupt(world);
}

/// A call into the kernel domain, an interrupt there, which finds `tp` as no compiled code leaves it, faults before, in and
/// behind the copy routine, and one of a portal.
fn use_kernel(world: &mut World, [connection, in_place, copying, inside]: &[Connection; 4]) {
    let (buffers, before) = world.checked_call(connection);
    world.machine.csr.sstatus |= STATUS_SUM;
    let registers = world.machine.registers();
    world.machine.set(TP, 12);
    world.machine.csr.stimecmp = 0;
    let crossed = world.cross();
    assert_eq!(world.machine.program_counter, World::upcall_entry(Upcall::Timer));
    crossed.assert_writes((crossed.frame_before, world.machine.csr.sscratch), &[]);
    world.machine.csr.stimecmp = u64::MAX;
    world.reply(0, 0);
    assert_eq!(world.machine.registers(), registers);
    let lasting = STATUS_SUM | STATUS_SIE;
    assert_eq!(world.machine.csr.sstatus & lasting, lasting, "as it was interrupted");
    world.machine.csr.sstatus &= !STATUS_SUM;
    world.checked_return(connection, buffers, &before);
    let (callee, value) = (connection.callee, at(connection.callee, NOTHING));
    world.write_bytes(at(callee, PROGRAM), &encode::bytes(&[encode::lbu(A0, A1, 0)]));
    for place in [LOAD, PROGRAM] {
        world.checked_call(connection);
        world.machine.set(A1, value);
        world.machine.program_counter = at(callee, place);
        world.cross();
        world.assert_upcall(Upcall::Fault, THREAD, 13, value);
        world.mark_dead(world.machine.csr.sscratch);
        world.reply(0, 0);
        world.assert_at(connection.caller, RESUME);
    }
    // A call from there, which stays there.
    let (_, before) = world.checked_call(connection);
    let (_, inner_before) = world.checked_call(inside);
    world.checked_return(inside, vec![], &inner_before);
    world.put_back(&before);
    world.checked_return(connection, vec![], &before);
    // The caller of that has died.
    let (_, before) = world.checked_call(connection);
    world.checked_call(inside);
    world.mark_dead(world.machine.csr.sscratch);
    let back = world.reply(0, 0);
    world.assert_dead(connection, &before, &[], &back.before);
    world.call_out_of_reach(in_place, [at(CLIENT, DATA), 8, 0, 0, 0, 0, 0, 0]);
    world.round_trip(in_place);
    // A fault of the nucleus, which copies.
    let arguments = [at(CLIENT, NOTHING), 8, 0, 0, 0, 0, 0, 0];
    world.call(copying.index, at(CLIENT, STACK), arguments);
    assert_eq!(world.machine.get(A0) as i64, Error::BadPointer.status());
}

#[test]
fn every_instruction_of_the_way_into_the_kernel_domain_matters() {
    let mut world = World::new(92);
    let connection = world.connect("kpci", CLIENT, KERNEL_SERVER);
    let in_place = world.connect("kpr", CLIENT, KERNEL_SERVER);
    let copying = world.connect("npr", CLIENT, SERVER);
    let inside = world.connect("kki", KERNEL_SERVER, KERNEL_BACKEND);
    let connections = [connection, in_place, copying, inside];
    let scenario = |world: &mut World| use_kernel(world, &connections);
    scenario(&mut world.clone());
    let symbol = |name: &str| world.nucleus.symbol(name);
    let fault = symbol("kernel_access_fault");
    let parts = [symbol("kernel_enter")..symbol("trap_kernel") + 20, fault..fault + 48];
    for address in parts.into_iter().flat_map(|part| part.step_by(4)) {
        let word = world.word(address) as u32;
        if word != 0 && !noticed(&without(&world, address), scenario) {
            panic!("nobody notices the absence of {word:#010x} at {address:#x}");
        }
    }
}

/// An interrupt and its end leave all registers as they were, and what interrupts.
fn interrupt(world: &mut World) {
    world.scramble();
    world.interrupts = 1 << 5;
    world.machine.csr.sie = world.interrupts;
    world.machine.csr.sstatus |= STATUS_SIE;
    let stack = world.random.u64(..);
    world.machine.set(SP, stack);
    let (domain, counter) = (world.running(), world.machine.program_counter);
    world.machine.csr.stimecmp = 0;
    let crossed = world.cross();
    assert_eq!(world.machine.program_counter, World::upcall_entry(Upcall::Timer));
    assert_eq!(crossed.journal.traps.len(), 1);
    crossed.assert_writes((crossed.frame_before, world.machine.csr.sscratch), &[]);
    world.machine.csr.stimecmp = u64::MAX;
    world.machine.csr.sstatus &= !(STATUS_SIE | STATUS_SPIE);
    world.reply(0, 0);
    assert_ne!(world.machine.csr.sstatus & STATUS_SIE, 0);
    assert_eq!(world.machine.registers(), crossed.before);
    assert_eq!((world.running(), world.machine.program_counter), (domain, counter));
    world.interrupts = INTERRUPTS_ON;
    world.machine.csr.sie = world.interrupts;
    world.machine.csr.sstatus &= !STATUS_SIE;
}

#[test]
fn every_instruction_of_trap_entry_and_return_matters() {
    let mut world = World::new(91);
    let outer = world.connect("npi", CLIENT, SERVER);
    let inner = world.connect("nprw", SERVER, BACKEND);
    let pair = Pair { outer, inner, again: None, between: None };
    let inside = [
        world.connect("kpi", CLIENT, KERNEL_SERVER),
        world.connect("kki", KERNEL_SERVER, KERNEL_BACKEND),
    ];
    let scenario = |world: &mut World| {
        die_inside(world, &inside);
        use_nucleus(world, &pair);
    };
    scenario(&mut world.clone());
    let symbol = |name: &str| world.nucleus.symbol(name);
    // The window services are held by the tests of calls and hostile callers: many of their
    // instructions are for one slot, page or length, which no short scenario goes through.
    let parts = [
        symbol("trap_entry")..symbol("service_stack_wait"),
        symbol("trap_return")..symbol("trap_return_fence"),
        symbol("trap_dead")..symbol("service_close_by_asid"),
    ];
    // The padding, `li a1, 0`, which the abort entry below does again, and the jump
    // behind `sret`, which is fetched, but never executed.
    let redundant = [0, encode_li(A1), encode::jal(ZERO, 0)];
    for address in parts.into_iter().flat_map(|part| part.step_by(4)) {
        let word = world.word(address) as u32;
        if !redundant.contains(&word) && !noticed(&without(&world, address), scenario) {
            panic!("nobody notices the absence of {word:#010x} at {address:#x}");
        }
    }
}
