//! Memory of a caller that is read and written in the kernel domain where it is: by the callee's copy routine, and by nothing else.

use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::domain::*;
use cairn_emulator::csr::{SSTATUS, STATUS_SUM};
use cairn_emulator::encode::*;
use cairn_emulator::register::*;
use cairn_emulator::{Privilege, Step};
use std::ops::Range;

/// Instructions of the routine, from [`COPY`]: where it opens user memory, where what may fault begins and ends, where it
/// closes user memory, and where it goes on if it cannot reach its memory.
const OPENED: u64 = 2;
const BEGIN: u64 = 3;
const END: u64 = 9;
const LANDING: u64 = 12;
const PROGRAM_END: u64 = 14;

fn place(number: usize, instruction: u64) -> u64 {
    at(number, COPY) + 4 * instruction
}

/// Where the routine of this domain has user memory open.
pub fn opened(number: usize) -> Range<u64> {
    place(number, OPENED)..place(number, PROGRAM_END)
}

/// Bytes from `a1` to `a0`, `a2` of them; how many in `a0`. It changes `t1` and `t5` too.
fn routine() -> Vec<u32> {
    vec![
        lui(T5, STATUS_SUM as i32),
        csrrs(ZERO, SSTATUS, T5),
        add(A3, A0, A2),
        beq(A0, A3, 6 * 4),
        lbu(T1, A1, 0),
        addi(A1, A1, 1),
        sb(T1, A0, 0),
        addi(A0, A0, 1),
        jal(ZERO, -5 * 4),
        addi(A0, A2, 0),
        csrrc(ZERO, SSTATUS, T5),
        jalr(ZERO, RA, 0),
        addi(A0, ZERO, 0),
        jal(ZERO, -3 * 4),
    ]
}

/// A callee of two windows: copies the first to the stack, from there to the second, eight bytes of each at most.
fn server() -> Vec<u32> {
    let from = PROGRAM - COPY;
    let call = |at: u64| jal(RA, -((from + 4 * at) as i32));
    let mut program = vec![
        addi(SP, SP, -32),
        sd(RA, SP, 0),
        sd(A2, SP, 8),
        sd(A3, SP, 16),
        addi(A2, A1, 0),
        addi(A1, A0, 0),
        addi(A0, SP, 24),
    ];
    program.push(call(program.len() as u64));
    program.extend([ld(A0, SP, 8), ld(A2, SP, 16), addi(A1, SP, 24)]);
    program.push(call(program.len() as u64));
    program.extend([ld(RA, SP, 0), addi(SP, SP, 32), addi(A0, ZERO, 0), jalr(ZERO, RA, 0)]);
    program
}

impl World {
    /// An instance in the kernel domain gets its routine, and the nucleus hears of it.
    pub fn add_copy_routine(&mut self, number: usize) {
        self.write_bytes(at(number, COPY), &bytes(&routine()));
        for (field, instruction) in
            [(FIELD_COPY_BEGIN, BEGIN), (FIELD_COPY_END, END), (FIELD_COPY_LANDING, LANDING)]
        {
            let table = self.table(number);
            self.set_word(table.wrapping_add_signed(field), place(number, instruction));
        }
    }

    /// The callee in the kernel domain copies; returns what its routine answers.
    fn copy(&mut self, to: u64, from: u64, count: u64) -> u64 {
        let number = self.running();
        let back = at(number, RESUME);
        for (register, value) in [(RA, back), (A0, to), (A1, from), (A2, count)] {
            self.machine.set(register, value);
        }
        self.machine.program_counter = at(number, COPY);
        self.run_to(number, RESUME);
        self.machine.get(A0)
    }

    /// Goes on until the hart is there, through the nucleus where it traps.
    fn run_to(&mut self, number: usize, offset: u64) {
        for _ in 0..10_000 {
            if self.machine.program_counter == at(number, offset) {
                return;
            }
            self.machine.journal.clear();
            self.advance_in_place();
        }
        panic!("it does not come there, {}", self.trace());
    }

    /// An instruction of a component, or a way through the nucleus.
    fn advance_in_place(&mut self) {
        if self.machine.privilege == Privilege::Supervisor {
            self.check_privileged();
        }
        assert!(matches!(self.machine.step(), Step::Completed | Step::Trapped(_)));
        self.run_kernel();
    }

    /// A page of a domain goes away, as the memory manager has it.
    fn take_page(&mut self, number: usize, address: u64) {
        let entry = self.spaces[number].entry(&self.machine.memory, address).unwrap();
        self.machine.memory.write_u64(entry, 0).unwrap();
        self.machine.fence_translations();
    }

    /// A call whose callee finds that it does not reach what it got.
    pub fn call_out_of_reach(&mut self, connection: &Connection, arguments: [u64; 8]) {
        let stack = self.usual_stack(connection);
        let entered = self.call(connection.index, stack, arguments).before;
        self.assert_at(connection.callee, ENTRY);
        let own = at(connection.callee, DATA);
        assert_eq!(self.copy(own, at(connection.callee, NOTHING), 8), 0);
        assert_eq!(self.answer(connection, &entered), BAD);
    }

    /// What the call answers once the callee is back, whatever it says.
    fn answer(&mut self, connection: &Connection, entered: &[u64; 32]) -> (i64, u64) {
        self.put_back(entered);
        self.reply(0, 77);
        self.assert_at(connection.caller, RESUME);
        assert_eq!(self.machine.csr.sstatus & STATUS_SUM, 0);
        (self.machine.get(A0) as i64, self.machine.get(A1))
    }
}

const BAD: (i64, u64) = (Error::BadPointer.status(), 0);

#[test]
fn a_copy_in_place_reaches_what_the_caller_does() {
    for letters in ["r", "w"] {
        for head in ["km", "kp"] {
            let mut world = World::new(30);
            let connection = world.connect(&format!("{head}{letters}"), CLIENT, KERNEL_SERVER);
            let stack = world.usual_stack(&connection);
            let (data, own) = (at(CLIENT, DATA), at(KERNEL_SERVER, DATA));
            for length in [0, 1, 8, 100, PAGE_SIZE + 5, WINDOW_MAXIMUM] {
                let arguments = [data, length, 0, 0, 0, 0, 0, 0];
                let entered = world.call(connection.index, stack, arguments).before;
                world.assert_at(KERNEL_SERVER, ENTRY);
                let count = length.min(200);
                let last = length - count;
                let (to, from) =
                    if letters == "r" { (own, data + last) } else { (data + last, own) };
                let content: Vec<u8> = (0..count).map(|_| world.random.u8(..)).collect();
                world.write_bytes(from, &content);
                assert_eq!(world.copy(to, from, count), count);
                assert_eq!(world.bytes(to, count), content);
                assert_eq!(world.answer(&connection, &entered), (0, 77));
            }
        }
    }
}

/// Pointers at which a caller has nothing, and whether it may at least read there.
fn out_of_reach() -> Vec<(u64, bool)> {
    vec![
        (0, false),
        (at(CLIENT, NOTHING), false),
        (at(CLIENT, EXECUTE_ONLY), false),
        (at(CLIENT, READ_ONLY), true),
        (at(CLIENT, IMAGE_OFFSET), true),
        (at(SERVER, DATA), false),
        (at(BACKEND, DATA), false),
        ((1 << USER_ADDRESS_BITS) - 1, false),
        ((1 << USER_ADDRESS_BITS) - 8, false),
        (1 << 37, false),
    ]
}

#[test]
fn what_the_caller_does_not_reach_is_its_bad_pointer() {
    for head in ["km", "kp"] {
        let mut world = World::new(31);
        let connection = world.connect(&format!("{head}rw3"), CLIENT, KERNEL_SERVER);
        let stack = world.usual_stack(&connection);
        let (good, own) = (at(CLIENT, DATA), at(KERNEL_SERVER, DATA));
        for (pointer, is_readable) in out_of_reach() {
            // The end lies beyond the user half for some of them: the sum of two such numbers does not wrap.
            for length in [1, 8, 64, PAGE_SIZE, WINDOW_MAXIMUM] {
                for writes in [false, true] {
                    let arguments = [pointer, length, pointer, length, 0, 0, 0, 0];
                    let crossed = world.call(connection.index, stack, arguments);
                    let entered = crossed.before;
                    world.assert_at(KERNEL_SERVER, ENTRY);
                    let (to, from) = if writes { (pointer, own) } else { (own, pointer) };
                    let fails = writes || !is_readable;
                    let count = length.min(64);
                    assert_eq!(world.copy(to, from, count), if fails { 0 } else { count });
                    assert_eq!(world.machine.csr.sstatus & STATUS_SUM, 0);
                    // Others of the same call are good, and change nothing of the answer.
                    assert_eq!(world.copy(own, good, 8), 8);
                    let expected = if fails { BAD } else { (0, 77) };
                    assert_eq!(world.answer(&connection, &entered), expected, "{pointer:#x}");
                    if fails {
                        let rest = [A2, A3].map(|register| world.machine.get(register));
                        assert_eq!(rest, [0, 0]);
                    }
                }
            }
        }
        world.round_trip(&connection);
    }
}

#[test]
fn the_portal_refuses_what_is_no_user_memory() {
    let edge = 1u64 << USER_ADDRESS_BITS;
    for head in ["km", "kp"] {
        for (letters, position) in [("r", 0), ("w", 0), ("crw", 3), ("wri", 2), ("iiiiiiw", 6)] {
            let mut world = World::new(32);
            let connection = world.connect(&format!("{head}{letters}"), CLIENT, KERNEL_SERVER);
            let stack = world.usual_stack(&connection);
            let (data, own) = (at(CLIENT, DATA), at(KERNEL_SERVER, DATA));
            let mut cases = vec![
                (data, WINDOW_MAXIMUM + 1, Error::TooLarge),
                (data, edge - 1, Error::TooLarge),
            ];
            for length in
                [edge, 1 << 62, 1 << 63, u64::MAX, u64::MAX - data, 0u64.wrapping_sub(data)]
            {
                cases.push((data, length, Error::BadPointer));
            }
            for pointer in [
                edge,
                1 << 39,
                1 << 63,
                u64::MAX,
                KERNEL,
                NUCLEUS,
                PORTAL_CODE,
                THREADS,
                DOMAINS,
                own,
            ] {
                for length in [0, 1, 8, PAGE_SIZE, u64::MAX] {
                    cases.push((pointer, length, Error::BadPointer));
                }
            }
            for (pointer, length, error) in cases {
                let (mut arguments, _) = world.arguments(&connection);
                (arguments[position], arguments[position + 1]) = (pointer, length);
                let crossed = world.call(connection.index, stack, arguments);
                world.assert_refused(&connection, &crossed, error);
            }
            world.round_trip(&connection);
        }
    }
}

#[test]
fn two_in_the_kernel_domain_pass_memory_of_theirs() {
    let mut world = World::new(33);
    let outer = world.connect("kpi", CLIENT, KERNEL_SERVER);
    let inner = world.connect("kkrw", KERNEL_SERVER, KERNEL_BACKEND);
    let stack = world.usual_stack(&inner);
    let (memory, nothing) = (at(KERNEL_SERVER, DATA), at(KERNEL_SERVER, NOTHING));
    for (pointer, copied) in [(memory, 8), (nothing, 0), (memory, 8)] {
        let (_, before) = world.checked_call(&outer);
        let arguments = [pointer, 8, pointer, 8, 0, 0, 0, 0];
        let entered = world.call(inner.index, stack, arguments).before;
        world.assert_at(KERNEL_BACKEND, ENTRY);
        assert_eq!(world.copy(at(KERNEL_BACKEND, DATA), pointer, 8), copied);
        let expected = if copied == 0 { BAD } else { (0, 77) };
        assert_eq!(world.answer(&inner, &entered), expected);
        // The call around it is not marked.
        world.put_back(&before);
        world.checked_return(&outer, vec![], &before);
    }
}

/// A world whose client is about to call with two windows in its data, and the addresses of the first one and of the second.
pub fn prepared() -> (World, [u64; 2], Vec<u32>) {
    let mut world = World::new(34);
    let connection = world.connect("kprw", CLIENT, KERNEL_SERVER);
    let program = vec![
        addi(T0, ZERO, connection.index as i32),
        addi(A0, S2, 0),
        addi(A1, ZERO, 8),
        addi(A2, S3, 0),
        addi(A3, ZERO, 8),
        auipc(RA, 0),
        addi(RA, RA, 12),
        ECALL,
        sd(A0, S4, 0),
        NOP,
    ];
    world.start(CLIENT, &program);
    world.write_bytes(at(KERNEL_SERVER, PROGRAM), &bytes(&server()));
    let entry = jal(ZERO, (PROGRAM - ENTRY) as i32);
    world.write_bytes(at(KERNEL_SERVER, ENTRY), &bytes(&[entry]));
    let buffers = [at(CLIENT, DATA), at(CLIENT, DATA) + 5 * PAGE_SIZE];
    world.machine.set(S2, buffers[0]);
    world.machine.set(S3, buffers[1]);
    world.machine.set(S4, at(CLIENT, DATA) + 10 * PAGE_SIZE);
    world.write_bytes(buffers[0], b"in place");
    (world, buffers, program)
}

/// Whether the callee is in its routine, or on the way to it.
fn is_stopped_in_callee(world: &World) -> bool {
    world.machine.privilege == Privilege::Supervisor
        && world.machine.program_counter >= KERNEL_REGIONS
}

#[test]
fn a_page_goes_away_at_every_step_of_a_copy() {
    let (start, buffers, program) = prepared();
    let end = PROGRAM + 4 * (program.len() as u64 - 1);
    let mut answers = [0, 0];
    for victim in buffers {
        let mut undisturbed = start.clone();
        while undisturbed.machine.program_counter != at(CLIENT, end) {
            if is_stopped_in_callee(&undisturbed) {
                let mut world = undisturbed.clone();
                world.take_page(CLIENT, victim);
                world.run_to(CLIENT, end);
                let answer = world.machine.get(A0) as i64;
                assert!([0, BAD.0].contains(&answer), "{answer}");
                answers[usize::from(answer == 0)] += 1;
            }
            undisturbed.machine.journal.clear();
            undisturbed.advance_in_place();
        }
        assert_eq!(undisturbed.bytes(buffers[1], 8), b"in place");
        assert_eq!(undisturbed.machine.get(A0), 0);
    }
    assert!(answers.iter().all(|count| *count > 20), "{answers:?}");
}

#[test]
fn the_caller_dies_at_every_step_of_a_copy() {
    let (start, buffers, program) = prepared();
    let end = at(CLIENT, PROGRAM + 4 * (program.len() as u64 - 1));
    let mut undisturbed = start.clone();
    let mut deaths = 0;
    while undisturbed.machine.program_counter != end {
        if is_stopped_in_callee(&undisturbed) {
            let mut world = undisturbed.clone();
            // Its thread ends when it comes back: its pages, and the frame into the callee, are of a dead one.
            buffers.iter().for_each(|page| world.take_page(CLIENT, *page));
            world.mark_dead(world.machine.csr.sscratch);
            for _ in 0..10_000 {
                if world.running() == SCHEDULER {
                    break;
                }
                world.machine.journal.clear();
                world.advance_in_place();
            }
            assert_eq!(world.machine.program_counter, World::upcall_entry(None));
            assert_eq!(world.machine.csr.sstatus & STATUS_SUM, 0);
            deaths += 1;
        }
        undisturbed.machine.journal.clear();
        undisturbed.advance_in_place();
    }
    assert!(deaths > 100, "{deaths}");
}

#[test]
fn calls_by_chance() {
    let mut world = World::new(35);
    let connections = ["kmr", "kpw"].map(|text| world.connect(text, CLIENT, KERNEL_SERVER));
    let stack = world.usual_stack(&connections[0]);
    let own = at(KERNEL_SERVER, DATA);
    let interesting: Vec<u64> = out_of_reach().into_iter().map(|(pointer, _)| pointer).collect();
    let mut found = [0; 3];
    for _ in 0..2000 {
        let writes = world.random.bool();
        let connection = &connections[usize::from(writes)];
        let random = &mut world.random;
        let pointer = match random.u8(..4) {
            0 => random.u64(..) >> random.u32(..64),
            1 => interesting[random.usize(..interesting.len())].wrapping_sub(random.u64(..9)),
            2 => at(CLIENT, DATA) + random.u64(..DATA_PAGES * PAGE_SIZE),
            _ => at(CLIENT, DATA) + DATA_PAGES * PAGE_SIZE - random.u64(..64),
        };
        let length = match random.u8(..3) {
            0 => random.u64(..) >> random.u32(..64),
            _ => random.u64(..80),
        };
        let entered =
            world.call(connection.index, stack, [pointer, length, 0, 0, 0, 0, 0, 0]).before;
        if world.running() == CLIENT {
            found[0] += 1;
            let error = if (pointer | length) >> USER_ADDRESS_BITS == 0 {
                Error::TooLarge
            } else {
                Error::BadPointer
            };
            assert_eq!(world.machine.get(A0) as i64, error.status());
            continue;
        }
        assert!((pointer | length) >> USER_ADDRESS_BITS == 0 && length <= WINDOW_MAXIMUM);
        let count = length.min(80);
        let (to, from) = if writes { (pointer, own) } else { (own, pointer) };
        let copied = world.copy(to, from, count);
        assert!(copied == 0 || copied == count);
        let fails = copied < count;
        found[1 + usize::from(fails)] += 1;
        let expected = if fails { BAD } else { (0, 77) };
        assert_eq!(world.answer(connection, &entered), expected);
    }
    assert!(found.iter().all(|count| *count > 100), "{found:?}");
}
