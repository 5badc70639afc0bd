//! The services by which the supervisor changes where another thread goes on: `unwind`, `divert`, `refuse`.

use crate::death::through_kernel;
use crate::run::*;
use crate::world::*;
use cairn_abi::DomainId;
use cairn_abi::Error;
use cairn_abi::address::KERNEL;
use cairn_abi::domain::{FIELD_ALIVE, Tables};
use cairn_abi::privileged::*;
use cairn_abi::thread::*;
use cairn_emulator::csr::STATUS_SPP;
use cairn_emulator::register::*;

/// The thread from which the services are called.
const OTHER: usize = 2;

/// Another thread, made here, runs in the scheduler, which in this world holds all privileged portals: nothing is done to
/// the frames of who runs.
fn to_another_thread(world: &mut World) {
    let stack = at(SCHEDULER, STACK - 64);
    let top = at(BACKEND, STACK - 0x800);
    let arguments =
        [OTHER as u64, BACKEND as u64, at(BACKEND, ENTRY), top, 0, at(BACKEND, STUB), 0, 0];
    world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
    world.call(PORTAL_SWITCH as u64, stack, [0, 0, OTHER as u64, 0, 0, 0, 0, 0]);
    interrupt(world);
}

/// The running thread is interrupted: the scheduler runs.
fn interrupt(world: &mut World) {
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    assert_eq!(world.running(), SCHEDULER);
}

/// The first thread goes on.
fn back_to_the_thread(world: &mut World) {
    let stack = at(SCHEDULER, STACK - 64);
    world.call(PORTAL_SWITCH as u64, stack, [0, 0, THREAD as u64, 0, 0, 0, 0, 0]);
}

/// A privileged portal of the supervisor, with a thread and the offset of a frame in its block.
fn by_the_service(world: &mut World, portal: usize, thread: u64, offset: u64) -> i64 {
    let crossed =
        world.call(portal as u64, at(SCHEDULER, STACK), [thread, offset, 0, 0, 0, 0, 0, 0]);
    world.assert_at(SCHEDULER, RESUME);
    for register in SAVED.iter().chain(&[SP, RA]) {
        assert_eq!(world.machine.get(*register), crossed.before[usize::from(*register)]);
    }
    world.machine.get(A0) as i64
}

/// Places where no frame of the thread lies whose top one is `top`, and another's: all are refused.
fn assert_bad_places(world: &mut World, portal: usize, top: u64, frames: &[u64]) {
    let bad = Error::BadArgument.status();
    let (thread, offset) = (THREAD as u64, frames[0] % 4096);
    for index in [THREAD_COUNT as u64, u64::MAX, OTHER as u64] {
        assert_eq!(by_the_service(world, portal, index, offset), bad, "thread {index}");
    }
    let places = (0..4096 + 64).filter(|place| !frames.iter().any(|frame| frame % 4096 == *place));
    let others = [u64::MAX - 7, top % 4096 + 8];
    let block = thread_block(THREAD);
    let before = Vec::from_iter((0..512).map(|word| world.word(block + word * 8)));
    for offset in places.step_by(4).chain(others) {
        assert_eq!(by_the_service(world, portal, thread, offset), bad, "offset {offset:#x}");
    }
    let after = Vec::from_iter((0..512).map(|word| world.word(block + word * 8)));
    assert_eq!(before, after, "nothing was changed");
}

/// The service itself: from another thread, as the supervisor uses it.
#[test]
fn unwinding_by_the_service() {
    let mut world = World::new(41);
    let outer = world.connect("npr", CLIENT, SERVER);
    let inner = world.connect("npw", SERVER, BACKEND);
    let (buffers, before) = world.checked_call(&outer);
    let first = world.machine.csr.sscratch;
    world.checked_call(&inner);
    let frame = world.machine.csr.sscratch;
    interrupt(&mut world);
    to_another_thread(&mut world);

    let unwind =
        |world: &mut World| by_the_service(world, PORTAL_UNWIND, THREAD as u64, frame % 4096);
    let top = frame + TRAP_FRAME as u64;
    assert_bad_places(&mut world, PORTAL_UNWIND, top, &[frame, first, top]);
    let living = Error::NotAllowed.status();
    assert_eq!(unwind(&mut world), living, "it returns into a living domain");
    world.set_word(
        Tables::LEAST.portal_table(DomainId(SERVER as u16)).wrapping_add_signed(FIELD_ALIVE),
        0,
    );
    assert_eq!(unwind(&mut world), 0);
    assert_eq!(unwind(&mut world), Error::BadArgument.status(), "it is marked already");
    back_to_the_thread(&mut world);
    assert_eq!(world.running(), BACKEND);
    let back = world.reply(0, 5);
    world.assert_dead(&outer, &before, &buffers, &back.before);
}

/// Another thread diverts a call's frame: its thread faults when it comes back, and goes on behind the call as if
/// nothing had been.
#[test]
fn diverting_by_the_service() {
    let mut world = World::new(43);
    let outer = world.connect("npr", CLIENT, SERVER);
    world.checked_call(&outer);
    let frame = world.machine.csr.sscratch;
    let link = world.word(frame.wrapping_add_signed(FRAME_RA));
    interrupt(&mut world);
    to_another_thread(&mut world);
    let divert = |world: &mut World, header: u64| {
        by_the_service(world, PORTAL_DIVERT, THREAD as u64, header % 4096)
    };
    let bad = Error::BadArgument.status();
    let trap = frame + TRAP_FRAME as u64;
    assert_bad_places(&mut world, PORTAL_DIVERT, trap, &[frame]);
    let place = frame.wrapping_add_signed(FRAME_RA);
    assert_eq!(divert(&mut world, frame), 0);
    assert_eq!(world.word(place), link | KERNEL, "no user can go on there");
    assert_eq!(divert(&mut world, frame), bad, "it is diverted already");

    // The frame of the interrupt, as if it were that of the fault.
    let place = trap.wrapping_add_signed(TRAP_SEPC);
    assert_eq!(divert(&mut world, trap), bad, "it was no diverted thread's");
    world.set_word(place, link | KERNEL);
    assert_eq!(divert(&mut world, trap), 0);
    assert_eq!(world.word(place), link);
}

/// A call that waits for a stack begins anew by its index: what that leads to by then is called.
#[test]
fn a_call_from_the_kernel_domain_waits_for_a_stack() {
    for letters in ["", "i", "cr", "w"] {
        let mut world = World::new(47);
        let outer = world.connect("kpi", CLIENT, KERNEL_SERVER);
        let inner = world.connect(&format!("nk{letters}"), KERNEL_SERVER, SERVER);
        let (_, before) = world.checked_call(&outer);
        world.fill_queue(inner.crossing.queue, &[]);
        let (arguments, _) = world.arguments(&inner);
        let stack = world.usual_stack(&inner);
        let crossed = world.call(inner.index, stack, arguments);
        world.assert_upcall(Upcall::StackWait, THREAD, 8, inner.crossing.queue);
        world.check_trap_frame(world.machine.csr.sscratch);
        let mut refused = world.clone();

        world.fill_queue(inner.crossing.queue, &inner.activations);
        world.reply(0, 0);
        world.assert_at(SERVER, ENTRY);
        world.reply(3, 4);
        world.assert_at(KERNEL_SERVER, RESUME);
        assert_eq!((world.machine.get(A0), world.machine.get(A1)), (3, 4));
        for register in SAVED.iter().chain(&[SP, RA]) {
            assert_eq!(world.machine.get(*register), crossed.before[usize::from(*register)]);
        }

        // Nobody waits for ever: the supervisor answers.
        let frame = refused.machine.csr.sscratch;
        to_another_thread(&mut refused);
        assert_bad_places(&mut refused, PORTAL_REFUSE, frame, &[frame]);
        let answer = by_the_service(&mut refused, PORTAL_REFUSE, THREAD as u64, frame % 4096);
        assert_eq!(answer, 0);
        back_to_the_thread(&mut refused);
        refused.assert_at(KERNEL_SERVER, RESUME);
        assert_eq!(refused.machine.get(A0) as i64, Error::Cancelled.status());
        for register in SAVED.iter().chain(&[SP, RA]) {
            assert_eq!(refused.machine.get(*register), crossed.before[usize::from(*register)]);
        }
        refused.put_back(&before);
        refused.checked_return(&outer, vec![], &before);
    }
}

/// As `diverting_by_the_service`: the thread faults in the half of user mode.
#[test]
fn diverting_a_call_from_the_kernel_domain() {
    for inner in ["nki", "kki"] {
        let (mut world, [outer, _], [before, inner_before]) = through_kernel("kpi", inner, 47);
        let frame = world.machine.csr.sscratch;
        let place = frame.wrapping_add_signed(FRAME_RA);
        let link = world.word(place);
        let divert = |world: &mut World, header: u64| {
            by_the_service(world, PORTAL_DIVERT, THREAD as u64, header % 4096)
        };
        let bad = Error::BadArgument.status();
        interrupt(&mut world);
        to_another_thread(&mut world);
        assert_eq!(divert(&mut world, frame), 0);
        assert_eq!(world.word(place), link & !KERNEL, "supervisor mode does not go on there");
        assert_eq!(divert(&mut world, frame), bad, "it is diverted already");

        back_to_the_thread(&mut world);
        world.reply(3, 4);
        world.assert_upcall(Upcall::Fault, THREAD, 12, link & !KERNEL);
        let trap = world.machine.csr.sscratch;
        to_another_thread(&mut world);
        assert_eq!(divert(&mut world, trap), 0);
        assert_eq!(divert(&mut world, trap), bad, "it was no diverted thread's");
        back_to_the_thread(&mut world);
        world.assert_at(KERNEL_SERVER, RESUME);
        assert_eq!((world.machine.get(A0), world.machine.get(A1)), (3, 4));
        for register in SAVED.iter().chain(&[SP]) {
            assert_eq!(world.machine.get(*register), inner_before[usize::from(*register)]);
        }
        world.put_back(&before);
        world.checked_return(&outer, vec![], &before);
    }
}

/// Where a thread goes on that was stopped in privileged mode nobody chooses.
#[test]
fn a_thread_in_the_kernel_domain_is_not_sent_elsewhere() {
    let mut world = World::new(46);
    let connection = world.connect("kpi", CLIENT, KERNEL_SERVER);
    world.checked_call(&connection);
    interrupt(&mut world);
    let trap = world.machine.csr.sscratch;
    to_another_thread(&mut world);
    let (portals, bad) = ([PORTAL_REFUSE, PORTAL_DIVERT], Error::BadArgument.status());
    for portal in portals {
        assert_eq!(by_the_service(&mut world, portal, THREAD as u64, trap % 4096), bad);
    }
    // The same of one that was in user mode.
    let status = trap.wrapping_add_signed(TRAP_STATUS);
    world.set_word(status, world.word(status) & !STATUS_SPP);
    for portal in portals {
        assert_eq!(by_the_service(&mut world, portal, THREAD as u64, trap % 4096), 0);
        let place = trap.wrapping_add_signed(TRAP_SEPC);
        world.set_word(place, at(KERNEL_SERVER, RESUME));
    }
}

/// A call that waits for a stack is answered for its thread, which goes on as if the callee had returned that.
#[test]
fn refusing_by_the_service() {
    for specification in ["nm", "npi", "npcrw", "smr", "npr4"] {
        let mut world = World::new(44);
        let connection = world.connect(specification, CLIENT, SERVER);
        world.fill_queue(connection.crossing.queue, &[]);
        let (arguments, _) = world.arguments(&connection);
        let stack = world.usual_stack(&connection);
        let crossed = world.call(connection.index, stack, arguments);
        assert_eq!(world.running(), SCHEDULER);
        let frame = world.machine.csr.sscratch;
        to_another_thread(&mut world);
        assert_bad_places(&mut world, PORTAL_REFUSE, frame, &[frame]);
        assert_eq!(by_the_service(&mut world, PORTAL_REFUSE, THREAD as u64, frame % 4096), 0);
        back_to_the_thread(&mut world);
        world.assert_at(CLIENT, RESUME);
        assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
        for register in SAVED.iter().chain(&[SP, RA]) {
            assert_eq!(world.machine.get(*register), crossed.before[usize::from(*register)]);
        }
        assert_eq!(world.machine.get(A0) as i64, Error::Cancelled.status());
    }
}

/// What a thread saves can look like a header: with `trap_return` in the place of its program counter, the words before
/// are its status and its registers.
#[test]
fn what_looks_like_a_frame_is_none() {
    let mut world = World::new(45);
    let outer = world.connect("npr", CLIENT, SERVER);
    world.checked_call(&outer);
    let frame = world.machine.csr.sscratch;
    interrupt(&mut world);
    let trap = frame + TRAP_FRAME as u64;
    // It jumped there, and its caller came with this return address.
    let back = world.word(trap.wrapping_add_signed(FRAME_RETURN));
    world.set_word(trap.wrapping_add_signed(TRAP_SEPC), back);
    world.set_word(frame.wrapping_add_signed(FRAME_RA), 0x40122);
    to_another_thread(&mut world);
    for portal in [PORTAL_REFUSE, PORTAL_UNWIND, PORTAL_DIVERT] {
        assert_bad_places(&mut world, portal, trap, &[frame, trap]);
    }
}

/// A callee inside the kernel domain comes back, and is stopped behind so many instructions of the way; another thread runs.
fn stopped_on_the_way_back(steps: u64) -> (World, [Connection; 2], u64, u64) {
    let (mut world, connections, _) = through_kernel("kpi", "kki", 48);
    let frame = world.machine.csr.sscratch;
    world.machine.program_counter = world.nucleus.symbol("kernel_inside_return");
    for _ in 0..steps {
        world.machine.step();
    }
    world.machine.csr.stimecmp = 0;
    world.machine.step();
    world.run_kernel();
    world.machine.csr.stimecmp = u64::MAX;
    let trap = world.machine.csr.sscratch;
    to_another_thread(&mut world);
    (world, connections, frame, trap)
}

/// Of the five instructions the third takes the frame off.
const TAKEN_OFF: u64 = 3;

#[test]
fn who_comes_back_inside_the_kernel_domain_to_a_dead_caller() {
    for steps in 0..5 {
        let (mut world, [outer, inner], frame, trap) = stopped_on_the_way_back(steps);
        world.set_word(world.table(inner.caller).wrapping_add_signed(FIELD_ALIVE), 0);
        let into_dead = if steps < TAKEN_OFF { frame } else { trap };
        let unwind = |world: &mut World, header: u64| {
            by_the_service(world, PORTAL_UNWIND, THREAD as u64, header % 4096)
        };
        assert_eq!(unwind(&mut world, into_dead), 0, "after {steps} instructions");
        back_to_the_thread(&mut world);
        if !world.is_in_component() {
            world.run_kernel();
        }
        world.assert_at(outer.caller, RESUME);
        assert_eq!(world.machine.get(A0) as i64, Error::Dead.status());
    }
}

#[test]
fn who_comes_back_inside_the_kernel_domain_is_diverted() {
    for steps in 0..5 {
        let (mut world, [_, inner], frame, _) = stopped_on_the_way_back(steps);
        let link = world.word(frame.wrapping_add_signed(FRAME_RA));
        let diverted = by_the_service(&mut world, PORTAL_DIVERT, THREAD as u64, frame % 4096);
        assert_eq!(diverted == 0, steps < TAKEN_OFF, "after {steps} instructions");
        back_to_the_thread(&mut world);
        if !world.is_in_component() {
            world.run_kernel();
        }
        match diverted {
            0 => world.assert_upcall(Upcall::Fault, THREAD, 12, link & !KERNEL),
            _ => world.assert_at(inner.caller, RESUME),
        }
    }
}
