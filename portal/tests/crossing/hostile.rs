//! What a hostile caller passes in: every call is refused with an error, and nothing happened.

use crate::run::*;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::domain::{ACTIVATION_NEXT, PORTAL_RETURN, PORTALS_DESCRIBED, QUEUE_SIZE};
use cairn_abi::page_table::{EXECUTE, OWN, VALID, WRITE};
use cairn_abi::thread::{FRAME_SCRATCH, INVOCATION_LIMIT, TRAP_SEPC, trap_register};
use cairn_emulator::register::*;
use cairn_portal::State;
use cairn_portal::generate::frame_size;

impl World {
    /// The caller goes on at its return address with this error, and all is as before the call.
    pub fn assert_refused(&mut self, connection: &Connection, crossed: &Crossed, error: Error) {
        self.assert_at(connection.caller, RESUME);
        let reply = (self.machine.get(A0) as i64, self.machine.get(A1));
        assert_eq!(reply, (error.status(), 0), "expected {error:?}");
        self.check_caller(connection, &crossed.before, &crossed.before);
        assert_eq!(self.machine.csr.sscratch, crossed.frame_before);
        let mut allowed = vec![(connection.crossing.queue, QUEUE_SIZE)];
        for activation in &connection.activations {
            allowed.push((activation.descriptor.wrapping_add_signed(ACTIVATION_NEXT), 8));
            allowed.push((activation.stack - 3 * COPY_STRIDE, 3 * COPY_STRIDE));
            allowed.push((window(activation, 0), WINDOW_SLOTS as u64 * WINDOW_SLOT_STRIDE / 512));
        }
        if connection.activations.is_empty() {
            allowed.clear();
        }
        allowed.extend(connection.kernel_stack_word());
        let top = crossed.frame_before + frame_size(&connection.specification) as u64;
        crossed.assert_writes((crossed.frame_before, top), &allowed);
    }
}

fn window(activation: &Activation, slot: u64) -> u64 {
    crate::calls::window_entries(activation, slot).start
}

/// Pointers that name no memory of the caller's, for a copy and for a window.
fn bad_pointers() -> Vec<u64> {
    let mut pointers = vec![
        0,
        at(CLIENT, NOTHING),
        at(CLIENT, READ_ONLY - PAGE_SIZE),
        at(CLIENT, EXECUTE_ONLY),
        at(SERVER, DATA),
        at(SERVER, IMAGE_OFFSET),
        at(BACKEND, DATA),
        at(CLIENT, SOURCE_SIZE),
        at(CLIENT, SOURCE_SIZE) - PAGE_SIZE,
        at(CLIENT, 0) - PAGE_SIZE,
        1 << 37,
        1 << 38,
        (1 << 38) - PAGE_SIZE,
        1 << 39,
        1 << 63,
        0u64.wrapping_sub(PAGE_SIZE),
    ];
    let kernel = [NUCLEUS, PORTAL_CODE, THREADS, DOMAINS, ACTIVATIONS, SEMAPHORES, STACK_ALIASES];
    pointers.extend(kernel);
    // Kernel addresses with the sign extension cut off, or something else in its place.
    pointers.extend(kernel.map(|address| address & ((1 << 39) - 1)));
    pointers.extend(kernel.map(|address| address ^ 1 << 60));
    pointers
}

/// These letters with every stack and state.
fn kinds(letters: &str) -> Vec<String> {
    ["sm", "sp", "nm", "np"].iter().map(|head| format!("{head}{letters}")).collect()
}

/// Calls with this pointer and length from register `position` on, and wants this error.
fn refuses(letters: &str, position: usize, pointer: u64, length: u64, error: Error) {
    for specification in kinds(letters) {
        let mut world = World::new(20);
        let connection = world.connect(&specification, CLIENT, SERVER);
        let (mut arguments, _) = world.arguments(&connection);
        arguments[position] = pointer;
        arguments[position + 1] = length;
        let stack = world.usual_stack(&connection);
        let crossed = world.call(connection.index, stack, arguments);
        println!("{specification}: {pointer:#x}, {length:#x}");
        world.assert_refused(&connection, &crossed, error);
        // It works as before.
        world.round_trip(&connection);
    }
}

#[test]
fn bad_pointers_of_copies() {
    for pointer in bad_pointers() {
        for length in [1, 8, COPY_MAXIMUM] {
            for (letters, position) in [("r", 0), ("w", 0), ("crw", 3), ("wri", 2)] {
                refuses(letters, position, pointer, length, Error::BadPointer);
            }
        }
    }
}

#[test]
fn copies_that_run_into_bad_memory() {
    for length in 2..=COPY_MAXIMUM {
        for pointer in [
            at(CLIENT, DATA + DATA_PAGES * PAGE_SIZE) - 1,
            at(CLIENT, DATA + DATA_PAGES * PAGE_SIZE) - length + 1,
            at(CLIENT, STACK) - 1,
        ] {
            refuses("r", 0, pointer, length, Error::BadPointer);
            refuses("iw", 1, pointer, length, Error::BadPointer);
        }
    }
}

#[test]
fn nothing_is_read_at_length_zero() {
    // An empty slice has a pointer that means nothing: user half is enough.
    for specification in kinds("rw") {
        let mut world = World::new(21);
        let connection = world.connect(&specification, CLIENT, SERVER);
        let stack = world.usual_stack(&connection);
        world.call(connection.index, stack, [1, 0, at(CLIENT, NOTHING) + 7, 0, 1, 1, 1, 1]);
        world.assert_at(SERVER, ENTRY);
        let crossed = world.reply(0, 9);
        world.assert_at(CLIENT, RESUME);
        assert_eq!((world.machine.get(A0), world.machine.get(A1)), (0, 9));
        assert_eq!(crossed.journal.user_reads, []);
    }
}

#[test]
fn bad_pointers_of_windows() {
    for pointer in bad_pointers() {
        for pages in 1..=4 {
            refuses("r", 0, pointer, pages * PAGE_SIZE, Error::BadPointer);
            refuses("crw", 3, pointer, (pages - 1) * PAGE_SIZE + 65, Error::BadPointer);
        }
    }
}

#[test]
fn windows_that_run_into_bad_memory() {
    let end = at(CLIENT, DATA + DATA_PAGES * PAGE_SIZE);
    for pages in 2..=4 {
        for inside in 1..pages {
            let pointer = end - inside * PAGE_SIZE;
            refuses("r", 0, pointer, pages * PAGE_SIZE, Error::BadPointer);
            refuses("rw", 2, pointer, inside * PAGE_SIZE + 1, Error::BadPointer);
        }
    }
}

#[test]
fn a_writable_window_of_a_page_that_can_only_be_read() {
    for offset in [READ_ONLY, IMAGE_OFFSET] {
        refuses("w", 0, at(CLIENT, offset), PAGE_SIZE, Error::BadPointer);
    }
}

#[test]
fn a_readable_window_of_such_a_page_cannot_be_written() {
    for offset in [READ_ONLY, IMAGE_OFFSET] {
        for specification in kinds("r") {
            let mut world = World::new(22);
            let connection = world.connect(&specification, CLIENT, SERVER);
            let stack = world.usual_stack(&connection);
            let arguments = [at(CLIENT, offset), PAGE_SIZE, 0, 0, 0, 0, 0, 0];
            world.call(connection.index, stack, arguments);
            world.assert_at(SERVER, ENTRY);
            let window = world.machine.get(A0);
            assert!(world.load(window).is_ok());
            assert!(world.store(window, 1).is_err());
        }
    }
}

/// What came in a window is not the callee's: a third domain would keep it after the return.
#[test]
fn a_window_is_not_passed_on() {
    for (given, passed) in [("r", "r"), ("w", "r"), ("w", "w"), ("rw", "w")] {
        for specification in kinds(given) {
            let mut world = World::new(27);
            let outer = world.connect(&specification, CLIENT, SERVER);
            let inner = world.connect(&format!("np{passed}"), SERVER, BACKEND);
            let (mut arguments, buffers) = world.arguments(&outer);
            for buffer in buffers {
                let position = usize::from(buffer.register - A0);
                arguments[position] = at(CLIENT, DATA + buffer.slot * PAGE_SIZE);
                arguments[position + 1] = PAGE_SIZE;
            }
            let stack = world.usual_stack(&outer);
            world.call(outer.index, stack, arguments);
            world.assert_at(SERVER, ENTRY);
            let window = world.machine.get(A0);
            assert!(world.load(window).is_ok());
            let stack = world.machine.get(SP);
            world.call(inner.index, stack, [window, PAGE_SIZE, 0, 0, 0, 0, 0, 0]);
            world.assert_at(SERVER, RESUME);
            assert_eq!(
                world.machine.get(A0) as i64,
                Error::BadPointer.status(),
                "{specification} {passed}"
            );
        }
    }
}

/// Code may be read through a window, not executed.
#[test]
fn a_window_of_code_is_not_executable() {
    for specification in kinds("r") {
        let mut world = World::new(28);
        let connection = world.connect(&specification, CLIENT, SERVER);
        let stack = world.usual_stack(&connection);
        world.call(
            connection.index,
            stack,
            [at(CLIENT, IMAGE_OFFSET), PAGE_SIZE, 0, 0, 0, 0, 0, 0],
        );
        let taken = &connection.activations[0];
        let entry = world.word(window(taken, 0));
        assert!(entry & VALID != 0);
        assert_eq!(entry & (EXECUTE | WRITE | OWN), 0, "{specification}");
    }
}

/// The pointer was readable when the call began, so the call is made; the error comes with the
/// return.
#[test]
fn a_writable_copy_of_a_page_that_can_only_be_read() {
    for specification in kinds("w") {
        let mut world = World::new(23);
        let connection = world.connect(&specification, CLIENT, SERVER);
        let stack = world.usual_stack(&connection);
        let pointer = at(CLIENT, READ_ONLY + 5);
        let crossed = world.call(connection.index, stack, [pointer, 20, 0, 0, 0, 0, 0, 0]);
        world.assert_at(SERVER, ENTRY);
        let back = world.reply(0, 77);
        world.assert_at(CLIENT, RESUME);
        let reply = (world.machine.get(A0) as i64, world.machine.get(A1));
        assert_eq!(reply, (Error::BadPointer.status(), 0));
        world.check_caller(&connection, &crossed.before, &back.before);
        assert_eq!(world.bytes(pointer, 20), [0; 20]);
        assert_eq!(world.machine.csr.sscratch, base_header());
    }
}

/// The caller's memory changes while the callee runs (another thread of it unmaps the page).
#[test]
fn a_buffer_that_is_gone_at_the_return() {
    let mut world = World::new(24);
    let connection = world.connect("npww", CLIENT, SERVER);
    let buffers = [at(CLIENT, DATA + 3), at(CLIENT, DATA + PAGE_SIZE)];
    let arguments = [buffers[0], 8, buffers[1], 8, 0, 0, 0, 0];
    let stack = world.usual_stack(&connection);
    let crossed = world.call(connection.index, stack, arguments);
    world.assert_at(SERVER, ENTRY);
    let (copy, second) = (world.machine.get(A0), world.machine.get(A2));
    world.write_bytes(copy, &[1; 8]);
    world.write_bytes(second, &[2; 8]);
    let first_entry = connection.crossing.source_entry + DATA / PAGE_SIZE * 8;
    world.set_word(first_entry, 0);
    world.machine.fence_translations();
    let back = world.reply(0, 0);
    world.assert_at(CLIENT, RESUME);
    assert_eq!(world.machine.get(A0) as i64, Error::BadPointer.status());
    world.check_caller(&connection, &crossed.before, &back.before);
    assert_eq!(world.bytes(buffers[1], 8), [2; 8], "the other is copied back");
}

#[test]
fn lengths() {
    let data = at(CLIENT, DATA);
    let cases = [
        (data + 1, COPY_MAXIMUM + 1, Error::NotPageAligned),
        (data + 0x800, PAGE_SIZE / 2, Error::NotPageAligned),
        (data + 1, PAGE_SIZE, Error::NotPageAligned),
        (data + PAGE_SIZE - 1, PAGE_SIZE, Error::NotPageAligned),
        (data + 8, WINDOW_MAXIMUM, Error::NotPageAligned),
        (data, WINDOW_MAXIMUM + 1, Error::TooLarge),
        (data, WINDOW_MAXIMUM + PAGE_SIZE, Error::TooLarge),
        (data, 1 << 32, Error::TooLarge),
        (data, (1 << 32) + 1, Error::TooLarge),
        (data, 1 << 52, Error::TooLarge),
        (data, 1 << 63, Error::TooLarge),
        (data, u64::MAX, Error::TooLarge),
        (data, 0u64.wrapping_sub(data), Error::TooLarge),
        (u64::MAX, u64::MAX, Error::TooLarge),
    ];
    for (pointer, length, error) in cases {
        refuses("r", 0, pointer, length, error);
        refuses("w", 0, pointer, length, error);
        // Others were opened before, of every kind.
        refuses("rwr", 4, pointer, length, error);
    }
}

#[test]
fn the_end_of_a_callers_memory() {
    let mut world = World::new(25);
    let connection = world.connect("npr", CLIENT, SERVER);
    // Only two pages of the client's may be passed on.
    let literals = connection.code.call;
    let literal = |offset: i64| literals.wrapping_add_signed(offset);
    world.set_word(literal(cairn_portal::literal::LITERAL_SOURCE), at(CLIENT, DATA));
    world.set_word(literal(cairn_portal::literal::LITERAL_SOURCE_SIZE), 2 * PAGE_SIZE);
    let entry = connection.crossing.source_entry + DATA / PAGE_SIZE * 8;
    world.set_word(literal(cairn_portal::literal::LITERAL_SOURCE_ENTRY), entry);
    let stack = world.usual_stack(&connection);
    for (page, pages, inside) in
        [(0, 1, true), (1, 1, true), (0, 2, true), (1, 2, false), (2, 1, false), (0, 3, false)]
    {
        let arguments = [at(CLIENT, DATA + page * PAGE_SIZE), pages * PAGE_SIZE, 0, 0, 0, 0, 0, 0];
        world.call(connection.index, stack, arguments);
        if inside {
            world.assert_at(SERVER, ENTRY);
            world.reply(0, 0);
        } else {
            assert_eq!(world.machine.get(A0) as i64, Error::BadPointer.status());
        }
        world.assert_at(CLIENT, RESUME);
    }
}

#[test]
fn stack_pointers_outside_the_group() {
    let end = STACK_GROUPS + STACK_GROUP_SIZE;
    for specification in ["sm", "sp", "smi", "smr", "spw"] {
        for stack in [0, 8, STACK_GROUPS - 1, end, end + 8, at(CLIENT, STACK), THREADS, u64::MAX] {
            let mut world = World::new(26);
            let connection = world.connect(specification, CLIENT, SERVER);
            let (arguments, _) = world.arguments(&connection);
            let crossed = world.call(connection.index, stack, arguments);
            world.assert_at(CLIENT, RESUME);
            let status = Error::BadStack.status() as u64;
            assert_unchanged(&world, &crossed, &[(A0, status), (T1, 0), (T2, 0), (T3, 0)]);
            let top = crossed.frame_before + frame_size(&connection.specification) as u64;
            crossed.assert_writes((crossed.frame_before, top), &[]);
        }
    }
}

/// All registers are as before the call, but these, which hold these values.
fn assert_unchanged(world: &World, crossed: &Crossed, but: &[(u8, u64)]) {
    for register in 1..32 {
        let changed = but.iter().find(|(changed, _)| *changed == register);
        let expected = changed.map_or(crossed.left(register), |(_, value)| *value);
        assert_eq!(world.machine.get(register), expected, "{}", name(register));
    }
    assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
}

#[test]
fn recursion_ends_with_an_error() {
    for specification in ["sm", "sp", "nm", "np", "smi", "npr", "nprwr", "smrwr", "npiiiiiiii"] {
        let mut world = World::new(27);
        let forth = world.connect_with(specification, CLIENT, SERVER, 14);
        let back = world.connect_with(specification, SERVER, CLIENT, 14);
        // Queues do not run dry before the invocation stack does.
        let mut depth = 0u64;
        let (crossed, connection) = loop {
            let connection = if depth.is_multiple_of(2) { &forth } else { &back };
            let (mut arguments, _) = world.arguments(connection);
            arguments[1] = 0;
            arguments[3] = 0;
            arguments[5] = 0;
            let stack = world.usual_stack(connection);
            if connection.specification.takes_activation() && depth >= 26 {
                // More depth than activations: reuse one, since no callee runs anything here.
                world.fill_queue(connection.crossing.queue, &connection.activations);
            }
            let crossed = world.call(connection.index, stack, arguments);
            if world.running() == connection.caller {
                break (crossed, connection);
            }
            depth += 1;
            assert!(depth < 100, "no overflow");
        };
        let status = Error::InvocationOverflow.status() as u64;
        assert_unchanged(&world, &crossed, &[(A0, status), (T1, 0), (T2, 0)]);
        crossed.assert_writes((crossed.frame_before, crossed.frame_before), &[]);
        let size = frame_size(&connection.specification) as u64;
        let offset = crossed.frame_before % PAGE_SIZE;
        assert!(offset < INVOCATION_LIMIT && offset + size >= INVOCATION_LIMIT);
        assert_eq!(depth, (offset - base_header() % PAGE_SIZE) / size, "frames");
        while depth > 0 {
            let caller = if depth % 2 == 1 { CLIENT } else { SERVER };
            world.reply(0, depth);
            world.assert_at(caller, RESUME);
            assert_eq!(world.machine.get(A1), depth);
            depth -= 1;
        }
        assert_eq!(world.machine.csr.sscratch, base_header());
    }
}

#[test]
fn an_empty_queue_waits_in_the_scheduler_and_calls_again() {
    for specification in ["nm", "np", "npi", "npcrw", "smr", "spww"] {
        let mut world = World::new(28);
        let connection = world.connect(specification, CLIENT, SERVER);
        world.fill_queue(connection.crossing.queue, &[]);
        let (arguments, _) = world.arguments(&connection);
        let stack = world.usual_stack(&connection);
        let crossed = world.call(connection.index, stack, arguments);
        world.assert_upcall(Upcall::StackWait, THREAD, 8, connection.crossing.queue);
        assert_eq!(world.machine.csr.sie, 0);
        let frame = world.machine.csr.sscratch;
        let saved = |offset: i64| world.word(frame.wrapping_add_signed(offset));
        assert_eq!(saved(TRAP_SEPC), at(CLIENT, CALL));
        for register in ARGUMENTS.iter().chain(&SAVED).chain(&[RA, SP, T0]) {
            let word = saved(trap_register(i64::from(*register)));
            assert_eq!(word, crossed.before[usize::from(*register)], "{} saved", name(*register));
        }
        crossed.assert_writes((crossed.frame_before, frame), &[]);

        world.fill_queue(connection.crossing.queue, &connection.activations);
        world.reply(0, 0);
        world.assert_at(CLIENT, CALL);
        // The index as it was: it is the call's again.
        let changed = [(T0, crossed.before[usize::from(T0)]), (T1, 0), (T2, 0), (T3, 0), (T4, 0)];
        assert_unchanged(&world, &crossed, &changed);
        world.cross();
        world.assert_at(SERVER, ENTRY);
        world.reply(0, 0);
        world.assert_at(CLIENT, RESUME);
    }
}

#[test]
fn indexes_without_a_portal() {
    let limit = PORTALS_DESCRIBED as u64;
    for index in [15, 16, 100, limit - 1, limit, limit + 1, 1 << 12, 1 << 32, 1 << 61, u64::MAX] {
        let mut world = World::new(29);
        let crossed = world.call(index, at(CLIENT, STACK), [7; 8]);
        world.assert_at(CLIENT, RESUME);
        let status = Error::NoPortal.status() as u64;
        assert_unchanged(&world, &crossed, &[(A0, status), (T1, 0), (T2, 0)]);
        crossed.assert_writes((crossed.frame_before, crossed.frame_before), &[]);
    }
}

#[test]
fn indexes_without_a_portal_in_the_kernel_domain() {
    for index in [15, 16, PORTALS_DESCRIBED as u64, u64::MAX] {
        let mut world = World::new(29);
        world.start(KERNEL_SERVER, &[]);
        world.prepare_call(16, kernel_stack(THREAD) - 64, [7; 8]);
        world.machine.set(T0, index);
        world.machine.set(T1, world.nucleus.symbol("kernel_call"));
        let crossed = world.cross();
        world.assert_at(KERNEL_SERVER, RESUME);
        let status = Error::NoPortal.status() as u64;
        let kept = [T0, T1, T2].map(|register| (register, world.machine.get(register)));
        assert_unchanged(&world, &crossed, &[(A0, status), kept[0], kept[1], kept[2]]);
        crossed.assert_writes((crossed.frame_before, crossed.frame_before), &[]);
    }
}

#[test]
fn returning_from_the_base_frame_ends_the_thread() {
    let mut world = World::new(30);
    world.call(PORTAL_RETURN as u64, at(CLIENT, STACK), [3; 8]);
    assert_eq!(world.running(), SCHEDULER);
    assert_eq!(world.machine.program_counter, World::upcall_entry(None));
    assert_eq!(world.machine.get(A1), cairn_abi::thread::thread_block(THREAD) >> 12);
    assert_eq!(world.machine.csr.sscratch, base_header());
}

#[test]
fn a_refusal_shows_the_caller_no_kernel_address() {
    for specification in ["npr", "npw", "spr"] {
        let mut world = World::new(31);
        let connection = world.connect(specification, CLIENT, SERVER);
        assert_eq!(connection.specification.state, State::Partial);
        let stack = world.usual_stack(&connection);
        world.call(connection.index, stack, [NUCLEUS, 8, 0, 0, 0, 0, 0, 0]);
        let leaked = (1..32u8).filter(|register| world.machine.get(*register) >= KERNEL);
        let status = Error::BadPointer.status() as u64;
        // Random registers may have such values; those are the caller's own.
        let leaked = leaked
            .filter(|register| ![A0].contains(register) && !SAVED.contains(register))
            .collect::<Vec<_>>();
        assert_eq!((leaked, world.machine.get(A0)), (vec![], status));
    }
}

/// Scratch words above a frame are the only part of the thread's block that a short refusal
/// touches.
#[test]
fn a_bad_index_writes_one_scratch_word() {
    let mut world = World::new(32);
    let crossed = world.call(400, at(CLIENT, STACK), [0; 8]);
    let places: Vec<u64> = crossed.journal.writes.iter().map(|write| write.address).collect();
    assert_eq!(places, [physical(base_header().wrapping_add_signed(FRAME_SCRATCH))]);
}
