//! Interrupts, faults, and the scheduler's way of running threads.

use crate::run::*;
use crate::world::*;
use cairn_abi::DomainId;
use cairn_abi::Error;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap::USER_STATUS;
use cairn_abi::domain::{PORTAL_OWN_DOMAIN, PORTAL_OWN_THREAD, PORTAL_TIME, Tables};
use cairn_abi::privileged::*;
use cairn_abi::thread::*;
use cairn_emulator::csr::{STATUS_SIE, STATUS_SPIE, STATUS_SUM};
use cairn_emulator::register::*;
use cairn_emulator::{Interrupt, Step};

impl World {
    /// Random registers of the component, the stack pointer too; compiled code in the kernel domain keeps `tp`.
    fn scramble_all(&mut self) {
        self.scramble();
        let stack = self.random.u64(..);
        self.machine.set(SP, stack);
        if is_kernel(self.running()) {
            self.machine.set(TP, self.machine.csr.sscratch);
        }
    }
}

#[test]
fn an_interrupt_resumes_with_all_registers() {
    for (interrupt, upcall) in [
        (Interrupt::Timer, Upcall::Timer),
        (Interrupt::Software, Upcall::Software),
        (Interrupt::External, Upcall::External),
    ] {
        for nested in [None, Some(("npwr", SERVER)), Some(("kpci", KERNEL_SERVER))] {
            let mut world = World::new(50);
            if let Some((specification, callee)) = nested {
                let connection = world.connect(specification, CLIENT, callee);
                world.checked_call(&connection);
            }
            let status = world.machine.csr.sstatus;
            let domain = world.running();
            world.scramble_all();
            world.machine.program_counter = at(domain, RESUME + 8);
            match interrupt {
                Interrupt::Timer => world.machine.csr.stimecmp = 0,
                Interrupt::Software => world.machine.csr.software_pending = true,
                Interrupt::External => world.machine.csr.external_pending = true,
            }
            let crossed = world.cross();
            world.assert_upcall(upcall, THREAD, interrupt.code(), 0);
            let frame = world.machine.csr.sscratch;
            assert_eq!(frame, crossed.frame_before + TRAP_FRAME as u64);
            crossed.assert_writes((crossed.frame_before, frame), &[]);
            // The scheduler is not interrupted, whatever is pending.
            let Step::Completed = world.machine.step() else { panic!("interrupted") };
            world.machine.csr.stimecmp = u64::MAX;
            world.machine.csr.external_pending = false;
            assert_eq!(world.machine.csr.pending(), 0, "the software interrupt is acknowledged");

            let back = world.reply(0, 0);
            world.assert_at(domain, RESUME + 8);
            assert_eq!(world.machine.registers(), crossed.before);
            let lasting = STATUS_SIE | STATUS_SUM;
            assert_eq!(world.machine.csr.sstatus & lasting, status & lasting);
            assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
            back.assert_writes((frame, frame), &[]);
        }
    }
}

/// What a trap frame says of how the thread runs is what was so, and becomes so again, whatever another thread has
/// left since.
#[test]
fn a_trap_frame_holds_status_and_interrupts() {
    for interrupts in [INTERRUPTS_ON, 1 << 5] {
        for status in [0, STATUS_SIE] {
            let mut world = World::new(58);
            world.interrupts = interrupts;
            world.scramble_all();
            world.machine.csr.sie = interrupts;
            world.machine.csr.sstatus |= status;
            let before = world.machine.csr.sstatus;
            world.machine.csr.stimecmp = 0;
            world.cross();
            world.machine.csr.stimecmp = u64::MAX;
            let frame = world.machine.csr.sscratch;
            let saved = world.word(frame.wrapping_add_signed(TRAP_STATUS));
            let was_open = if status == 0 { 0 } else { STATUS_SPIE };
            assert_eq!(saved, USER_STATUS | was_open, "user mode, no user memory open");
            assert_eq!(world.word(frame.wrapping_add_signed(TRAP_INTERRUPTS)), interrupts);
            world.machine.csr.sie = INTERRUPTS_ON ^ interrupts;
            world.machine.csr.sstatus ^= STATUS_SIE | STATUS_SPIE;
            world.reply(0, 0);
            assert_eq!(world.machine.csr.sstatus & STATUS_SIE, before & STATUS_SIE);
        }
    }
}

/// Executes the instruction at `offset` of the running domain's image, with `value` and `address`; what it leaves.
fn execute(world: &mut World, offset: u64, value: u64, address: u64) -> u64 {
    world.machine.set(A0, value);
    world.machine.set(A1, address);
    world.machine.program_counter = at(world.running(), offset);
    assert_eq!(world.machine.step(), Step::Completed);
    world.machine.get(A0)
}

/// The thread is interrupted, and another one goes on.
pub fn interrupt_for(world: &mut World, thread: usize) {
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    world.call(
        PORTAL_SWITCH as u64,
        at(SCHEDULER, STACK - 64),
        [0, 0, thread as u64, 0, 0, 0, 0, 0],
    );
}

/// Two threads of the client at one word: the first has its reservation when the second comes, which updates the
/// word and leaves a reservation of its own. What the first one's `sc` says: 0 if it stored.
pub fn reserve_over_another_thread(world: &mut World) -> u64 {
    let (word, other) = (at(CLIENT, DATA), 2);
    world.set_word(word, 5);
    let read = execute(world, LOAD_RESERVED, 0, word);
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    let stack = at(SCHEDULER, STACK - 64);
    let (entry, top) = (at(CLIENT, ENTRY), at(CLIENT, STACK - 0x800));
    let arguments = [other as u64, CLIENT as u64, entry, top, 0, at(CLIENT, STUB), 0, 0];
    world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
    world.call(PORTAL_SWITCH as u64, stack, [0, 0, other as u64, 0, 0, 0, 0, 0]);
    world.assert_at(CLIENT, ENTRY);
    let second = execute(world, LOAD_RESERVED, 0, word);
    assert_eq!(execute(world, STORE_CONDITIONAL, second + 1, word), 0, "nobody came in between");
    execute(world, LOAD_RESERVED, 0, word);
    interrupt_for(world, THREAD);
    let failed = execute(world, STORE_CONDITIONAL, read + 1, word);
    assert_eq!(world.word(word), if failed == 0 { read + 1 } else { second + 1 });
    failed
}

#[test]
fn a_reservation_does_not_outlive_an_interrupt() {
    let mut world = World::new(56);
    assert_eq!(reserve_over_another_thread(&mut world), 1, "an update of the other thread is lost");
    // Nor that of a thread whose frame the reservation names, which only a role's view of it could do.
    let mut world = World::new(56);
    execute(&mut world, LOAD_RESERVED, 0, at(CLIENT, DATA));
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    let frame = world.machine.csr.sscratch;
    let back = world.reply(0, 0);
    assert_eq!(execute(&mut world, STORE_CONDITIONAL, 9, at(CLIENT, DATA)), 1);
    back.assert_writes((frame, frame), &[]);
}

#[test]
fn a_fault_enters_the_scheduler_with_its_cause() {
    let cases = [
        (LOAD, at(CLIENT, NOTHING), 13, at(CLIENT, NOTHING)),
        (STORE, at(CLIENT, READ_ONLY), 15, at(CLIENT, READ_ONLY)),
        (LOAD, THREADS_ADDRESS, 13, THREADS_ADDRESS),
        (NOTHING, 0, 12, at(CLIENT, NOTHING)),
    ];
    for (offset, pointer, cause, value) in cases {
        let mut world = World::new(51);
        world.scramble_all();
        world.machine.set(A1, pointer);
        world.machine.program_counter = at(CLIENT, offset);
        let crossed = world.cross();
        world.assert_upcall(Upcall::Fault, THREAD, cause, value);
        let frame = world.machine.csr.sscratch;
        let sepc = world.word(frame.wrapping_add_signed(TRAP_SEPC));
        assert_eq!(sepc, at(CLIENT, offset));
        for register in 1..32u8 {
            let saved = world.word(frame.wrapping_add_signed(trap_register(register.into())));
            assert_eq!(saved, crossed.before[usize::from(register)], "{}", name(register));
        }
        // The trap frame of the invocation stack's top names the interrupted domain below it.
        let below = frame.wrapping_add_signed(FRAME_TABLE - TRAP_FRAME);
        assert_eq!(world.word(below), Tables::LEAST.portal_table(DomainId(CLIENT as u16)));
    }
}

const THREADS_ADDRESS: u64 = cairn_abi::address::THREADS;

/// At the deepest frame that a call may have there is still room for one of the portal manager, and from that one for a call of who runs
/// to completion, and a trap in either.
#[test]
fn a_trap_at_full_invocation_stack() {
    for kind in ["smi", "npi", "nprwr"] {
        let mut world = World::new(52);
        let to_scheduler = [CLIENT, SERVER].map(|caller| world.connect("rpci", caller, SCHEDULER));
        let to_manager =
            [CLIENT, SERVER].map(|caller| world.connect_manager("npcrwr", caller, BACKEND));
        let of_manager = world.connect("rpci", BACKEND, SCHEDULER);
        let refused = world.connect("smci", BACKEND, SERVER);
        let forth = world.connect_with(kind, CLIENT, SERVER, 14);
        let back = world.connect_with(kind, SERVER, CLIENT, 14);
        let mut depth = 0;
        while world.machine.get(A0) as i64 != Error::InvocationOverflow.status() {
            let connection = if depth % 2 == 0 { &forth } else { &back };
            let (mut arguments, _) = world.arguments(connection);
            (arguments[1], arguments[3], arguments[5]) = (0, 0, 0);
            let stack = world.usual_stack(connection);
            if connection.specification.takes_activation() {
                world.fill_queue(connection.crossing.queue, &connection.activations);
            }
            world.call(connection.index, stack, arguments);
            depth += 1;
        }
        let domain = world.running();
        world.scramble_all();
        world.machine.csr.stimecmp = 0;
        let crossed = world.cross();
        let frame = world.machine.csr.sscratch;
        let end = thread_block(THREAD) + THREAD_BLOCK_SIZE;
        assert!(frame + FRAME_SCRATCH as u64 + 24 <= end, "the frame lies in the thread's block");
        world.machine.csr.stimecmp = u64::MAX;
        world.reply(0, 0);
        assert_eq!((world.running(), world.machine.registers()), (domain, crossed.before));

        let connection = to_scheduler.iter().find(|one| one.caller == domain).unwrap();
        // Frames of other sizes end at the last place that a header can have.
        let deepest = world.fill_invocation_stack();
        let (buffers, before) = world.checked_call(connection);
        let above = world.machine.csr.sscratch;
        assert!((deepest + 1..=deepest + LAST_FRAME as u64).contains(&above));
        let traps = above + (TRAP_FRAME + FRAME_SCRATCH) as u64 + 24;
        assert!(traps <= thread_block(THREAD) + INVOCATION_END as u64);
        world.checked_return(connection, buffers, &before);
        assert_eq!(world.machine.csr.sscratch, deepest);

        // The portal manager can be called there, and can call nobody but the scheduler.
        let connection = to_manager.iter().find(|one| one.caller == domain).unwrap();
        let (buffers, before) = world.checked_call(connection);
        let above = world.machine.csr.sscratch;
        assert!((deepest + 1..=deepest + MANAGER_FRAME as u64).contains(&above));
        let (arguments, _) = world.arguments(&refused);
        let stack = world.usual_stack(&refused);
        world.call(refused.index, stack, arguments);
        assert_eq!(world.machine.get(A0) as i64, Error::InvocationOverflow.status());
        let (inner_buffers, inner_before) = world.checked_call(&of_manager);
        let traps = world.machine.csr.sscratch + (TRAP_FRAME + FRAME_SCRATCH) as u64 + 24;
        assert!(traps <= thread_block(THREAD) + INVOCATION_END as u64);
        world.checked_return(&of_manager, inner_buffers, &inner_before);
        world.checked_return(connection, buffers, &before);
        assert_eq!(world.machine.csr.sscratch, deepest);
    }
}

#[test]
fn the_scheduler_runs_another_thread() {
    let mut world = World::new(53);
    let outer = world.connect("npiw", CLIENT, SERVER);
    let inner = world.connect("rpci", SERVER, SCHEDULER);
    let (buffers, before) = world.checked_call(&outer);
    let (none, inner_before) = world.checked_call(&inner);
    let stack = at(SCHEDULER, STACK - 64);

    // Thread 2 begins in the backend.
    let entry = at(BACKEND, ENTRY);
    let arguments = [2, BACKEND as u64, entry, at(BACKEND, STACK), 77, at(BACKEND, STUB), 0, 0];
    world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
    world.assert_at(SCHEDULER, RESUME);
    assert_eq!(world.machine.get(A0), 0);
    let blocked = world.machine.csr.sscratch;
    world.call(PORTAL_SWITCH as u64, stack, [1, 1, 2, 0, 0, 0, 0, 0]);
    world.assert_at(BACKEND, ENTRY);
    for register in 1..32u8 {
        let expected = match register {
            RA => at(BACKEND, STUB),
            SP => at(BACKEND, STACK),
            A0 => 77,
            _ => 0,
        };
        assert_eq!(world.machine.get(register), expected, "{} of a new thread", name(register));
    }
    let frame = world.word(thread_block(THREAD).wrapping_add_signed(FIELD_FRAME));
    assert_eq!(frame, blocked, "where the blocked thread goes on");

    // It asks who it is, and is interrupted; the first thread goes on with a status and a value.
    world.call(PORTAL_OWN_THREAD as u64, at(BACKEND, STACK), [0; 8]);
    assert_eq!(world.machine.get(A1), 2);
    world.scramble_all();
    world.machine.csr.stimecmp = 0;
    let interrupted = world.cross();
    world.assert_upcall(Upcall::Timer, 2, Interrupt::Timer.code(), 0);
    world.machine.csr.stimecmp = u64::MAX;
    let switch = world.call(PORTAL_SWITCH as u64, stack, [5, 6, THREAD as u64, 0, 0, 0, 0, 0]);
    world.assert_at(SERVER, RESUME);
    assert_eq!((world.machine.get(A0), world.machine.get(A1)), (5, 6));
    world.check_caller(&inner, &inner_before, &switch.before);
    assert!(none.is_empty());
    world.checked_return(&outer, buffers, &before);

    // And the other way round: a thread that a trap stopped keeps all its registers.
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    world.call(PORTAL_SWITCH as u64, stack, [5, 6, 2, 0, 0, 0, 0, 0]);
    assert_eq!(world.running(), BACKEND);
    assert_eq!(world.machine.registers(), interrupted.before);
}

#[test]
fn privileged_portals_check_their_arguments() {
    let bad = Error::BadArgument.status();
    let dead = Error::Dead.status();
    let threads = THREAD_COUNT as u64;
    let cases: [(usize, [u64; 2], i64); 7] = [
        (PORTAL_SET_UP_THREAD, [threads, 1], bad),
        (PORTAL_SET_UP_THREAD, [2, DOMAINS_END as u64], bad),
        (PORTAL_SET_UP_THREAD, [2, 1 << 51], bad),
        // The running thread: its own frames would be gone when it returns.
        (PORTAL_SET_UP_THREAD, [THREAD as u64, 1], bad),
        (PORTAL_SET_UP_THREAD, [2, 0], dead),
        (PORTAL_SET_ALIVE, [DOMAINS_END as u64, 0], bad),
        (PORTAL_SET_ALIVE, [2, 2], bad),
    ];
    for (portal, [first, second], expected) in cases {
        let mut world = World::new(54);
        let connection = world.connect("rp", CLIENT, SCHEDULER);
        world.call_any(&connection);
        let arguments = [first, second, 0, 0, 0, 0, 0, 0];
        let crossed = world.call(portal as u64, at(SCHEDULER, STACK - 64), arguments);
        world.assert_at(SCHEDULER, RESUME);
        assert_eq!(
            world.machine.get(A0) as i64,
            expected,
            "portal {portal}: {first:#x} {second:#x}"
        );
        for register in SAVED.iter().chain(&[SP, RA]) {
            assert_eq!(world.machine.get(*register), crossed.before[usize::from(*register)]);
        }
        world.reply(0, 0);
        world.assert_at(CLIENT, RESUME);
    }
}

#[test]
fn a_switch_to_nobody_is_a_fault() {
    for thread in [THREAD_COUNT as u64, u64::MAX, 1 << 52 | THREAD as u64, 3] {
        let mut world = World::new(57);
        let connection = world.connect("rp", CLIENT, SCHEDULER);
        world.call_any(&connection);
        let frame = world.machine.csr.sscratch;
        world.call(PORTAL_SWITCH as u64, at(SCHEDULER, STACK - 64), [0, 0, thread, 0, 0, 0, 0, 0]);
        assert_eq!(world.machine.program_counter, 0, "thread {thread:#x}");
        assert_eq!(world.running(), SCHEDULER);
        assert_eq!(world.machine.csr.sscratch, frame);
    }
}

#[test]
fn short_circuits() {
    let time = 123_456;
    for (portal, expected) in [
        (PORTAL_OWN_DOMAIN, SERVER as u64),
        (PORTAL_OWN_THREAD, THREAD as u64),
        (PORTAL_TIME, time),
    ] {
        let mut world = World::new(55);
        let connection = world.connect("npi", CLIENT, SERVER);
        world.checked_call(&connection);
        world.machine.csr.time = time;
        let crossed = world.call(portal as u64, at(SERVER, STACK), [9; 8]);
        world.assert_at(SERVER, RESUME);
        assert_eq!(world.machine.get(A0), 0);
        let value = world.machine.get(A1);
        assert!((expected..expected + 20).contains(&value), "portal {portal}: {value}");
        assert!(portal == PORTAL_TIME || value == expected);
        let code =
            world.word(Tables::LEAST.portal_table(DomainId(SERVER as u16)) + portal as u64 * 8);
        for register in (1..32).filter(|register| ![A0, A1].contains(register)) {
            let expected = match register {
                T1 => code,
                _ => crossed.left(register),
            };
            assert_eq!(world.machine.get(register), expected, "{}", name(register));
        }
        let places = crossed.journal.writes.len();
        assert_eq!(places, 1, "only the trap entry's scratch word");
    }
}
