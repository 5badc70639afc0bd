//! Page faults that go to interposers first: what these see, what they cannot change, and who dies.

use crate::pagers::*;
use crate::run::*;
use crate::world::*;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::domain::{FIELD_ALIVE, FIELD_GENERATION, upcall_entry};
use cairn_abi::thread::*;
use cairn_abi::{Error, InstanceId};
use cairn_emulator::Step;
use cairn_emulator::register::*;
use cairn_portal::literal::*;
use cairn_portal::{
    Behalf, Crossing, FaultBetween, Fences, GenerateError, PagerMemory, PassedFault, Specification,
    generate,
};

/// What the interposer calls on behalf of the client by.
struct Passed {
    caller: usize,
    index: u64,
    asked: Paged,
}

/// The word with which an interposer is entered.
const INNER: u64 = 0x1234;
const LIFE: u64 = 7;
/// Its letters, as those of `Pager::page_fault`.
const LETTERS: &str = "c=tiiii";

impl World {
    fn word_before(&self, code: u64, literal: i64) -> u64 {
        self.word(code.wrapping_add_signed(literal))
    }

    /// From now on the faults of a range go to an interposer first.
    fn stand_before(&mut self, paged: &Paged, interposer: usize) -> Paged {
        let specification = Specification::parse("np").unwrap();
        let (crossing, activations) = self.crossing(&specification, paged.client, interposer, 1);
        let crossing = Crossing { constant: NUMBER, ..crossing };
        let table = self.table(paged.client);
        let place = |cause: u64| table.wrapping_add_signed(upcall_entry(cause as u8));
        let frame = CallFrame::of_word(self.word_before(paged.code.back, LITERAL_FRAME));
        let between = FaultBetween {
            inner: INNER,
            again: self.word_before(paged.code.call, LITERAL_AGAIN),
            size: frame.size,
            unmended: self.word_before(paged.code.back, LITERAL_ELSE),
        };
        let range = cairn_portal::PagedRange { elsewhere: self.word(place(13)), ..paged.range };
        let code = self.generate(|words, address| {
            generate::fault_between(&range, &between, &crossing, words, address)
        });
        for (cause, _) in CAUSES {
            self.set_word(place(cause), code.call);
        }
        Paged { client: paged.client, pager: interposer, range, crossing, code, activations }
    }

    /// The interposer `caller` passes faults of a range on to its pager, or to another interposer.
    fn pass_faults_on(&mut self, paged: &Paged, caller: usize, callee: usize) -> Passed {
        let stack = if is_kernel(callee) { "kp" } else { "np" };
        let specification = Specification::parse(&format!("{stack}{LETTERS}")).unwrap();
        let (mut crossing, activations) = self.crossing(&specification, caller, callee, 1);
        let index = crossing.index;
        let source = at(callee, 0);
        let pager = (callee == paged.pager).then(|| PagerMemory {
            first: source,
            size: SOURCE_SIZE,
            entry: self.entry_of(callee, source),
        });
        crossing.index = 0;
        crossing.constant = if pager.is_some() { 0 } else { INNER + 1 };
        crossing.behalf = Some(Behalf {
            client: InstanceId(paged.client as u16),
            queue: 0,
            fault: Some(PassedFault {
                first: paged.range.first,
                number: NUMBER,
                entries: paged.range.entries,
                is_writable: paged.range.is_writable,
                pager,
            }),
        });
        let code = self
            .generate(|words, address| generate::pair(&specification, &crossing, words, address));
        self.install(caller, index, code.call);
        let asked = Paged { pager: callee, crossing, code, activations, ..paged.clone() };
        Passed { caller, index, asked }
    }

    /// Whether an interposer has just been entered for an address.
    fn assert_entered(&self, interposer: usize, word: u64, rights: u64, offset: u64) {
        self.assert_at(interposer, ENTRY);
        let expected = [word, 0, THREAD as u64, NUMBER, offset, rights, LIFE, 0];
        for (register, value) in ARGUMENTS.into_iter().zip(expected) {
            assert_eq!(self.machine.get(register), value, "{}", name(register));
        }
        for register in SAVED.into_iter().chain(TEMPORARY) {
            assert_eq!(self.machine.get(register), 0, "{} tells nothing", name(register));
        }
    }

    /// An interposer passes the fault on, with nothing but lies in its registers.
    fn pass_fault_on(&mut self, passed: &Passed) -> Crossed {
        assert_eq!(self.running(), passed.caller);
        let lies = ARGUMENTS.map(|_| self.random.u64(..));
        self.call(passed.index, at(passed.caller, STACK), lies)
    }

    fn living(fences: Fences, seed: u64) -> World {
        let mut world = World::with(cairn_emulator::Options::default(), fences, seed);
        set_life(&mut world, CLIENT);
        world
    }
}

/// An interposer between a client and a pager, and what it passes faults on by.
fn interposed(world: &mut World, pager: usize) -> (Paged, Paged, Passed) {
    let paged = world.add_range(CLIENT, pager, RANGE, true);
    let between = world.stand_before(&paged, SERVER);
    let passed = world.pass_faults_on(&paged, SERVER, pager);
    (paged, between, passed)
}

#[test]
fn an_interposer_sees_the_fault_and_the_answer_and_nobody_notices() {
    for (seed, pager) in [(1, BACKEND), (2, KERNEL_BACKEND)] {
        for fences in [Fences::ByAsid, Fences::BySatp, Fences::WithoutAsids] {
            let mut world = World::living(fences, seed);
            let (paged, between, passed) = interposed(&mut world, pager);
            for (number, (cause, rights)) in [(0, CAUSES[1]), (1, CAUSES[2]), (3, CAUSES[1])] {
                let address = paged.page(number) + 0x123;
                let faulted = world.touch(&paged, cause, address);
                world.assert_entered(SERVER, INNER, rights, address - paged.range.first);
                let crossed = world.pass_fault_on(&passed);
                world.assert_asked(&passed.asked, rights, address);
                assert_eq!(world.word(paged.range.entries + number * 8), 0);
                let from = at(pager, DATA + number * PAGE_SIZE);
                world.set_word(from + 0x120, 0x8877_6655_4433_2211);
                let back = world.reply(0, from | WRITABLE_REPLY);
                // It is mapped, and the interposer knows where.
                world.assert_at(SERVER, RESUME);
                assert_ne!(world.word(paged.range.entries + number * 8), 0);
                assert_eq!(world.machine.get(A0), 0);
                assert_eq!(world.machine.get(A1), from | WRITABLE_REPLY);
                for register in SAVED {
                    let before = crossed.before[usize::from(register)];
                    assert_eq!(world.machine.get(register), before, "{}", name(register));
                }
                for register in TEMPORARY.into_iter().chain([A2, A3, A4, A5, A6, A7]) {
                    assert_eq!(world.machine.get(register), 0, "{}", name(register));
                }
                world.assert_given_back(&passed.asked);
                // What it says of the page is not looked at.
                let lie = world.random.u64(..);
                let end = world.reply(0, lie);
                assert!(faulted.instructions < 160 && crossed.instructions < 130);
                assert!(back.instructions < 130 && end.instructions < 100);
                world.assert_again(
                    &between,
                    &faulted,
                    at(CLIENT, if cause == 15 { STORE } else { LOAD }),
                );
                assert_eq!(world.machine.step(), Step::Completed, "{cause}");
                assert!(world.store(address, 5).is_ok() && world.load(address) == Ok(5));
            }
        }
    }
}

#[test]
fn interposers_stand_before_interposers() {
    for pager in [KERNEL_SERVER, KERNEL_BACKEND] {
        let mut world = World::living(Fences::BySatp, 3);
        let paged = world.add_range(CLIENT, pager, RANGE, true);
        let inner = world.stand_before(&paged, BACKEND);
        let outer = world.stand_before(&paged, SERVER);
        let first = world.pass_faults_on(&paged, SERVER, BACKEND);
        let second = world.pass_faults_on(&paged, BACKEND, pager);
        let address = paged.page(2) + 8;
        let faulted = world.touch(&paged, 15, address);
        world.assert_entered(SERVER, INNER, 3, 2 * PAGE_SIZE + 8);
        world.pass_fault_on(&first);
        world.assert_entered(BACKEND, INNER + 1, 3, 2 * PAGE_SIZE + 8);
        world.pass_fault_on(&second);
        world.assert_asked(&second.asked, 3, address);
        world.reply(0, at(pager, DATA) | WRITABLE_REPLY);
        world.assert_at(BACKEND, RESUME);
        world.reply(0, 5);
        world.assert_at(SERVER, RESUME);
        assert_eq!(world.machine.get(A1), 5, "what the inner one said");
        world.reply(0, 0);
        world.assert_again(&outer, &faulted, at(CLIENT, STORE));
        assert!(world.store(address, 5).is_ok());
        let _ = inner;
    }
}

#[test]
fn an_interposer_maps_nothing_and_can_only_refuse() {
    for pager in [BACKEND, KERNEL_BACKEND] {
        let mut world = World::living(Fences::ByAsid, 4);
        let (paged, between, passed) = interposed(&mut world, pager);
        let address = paged.page(1);
        // Without asking the pager: the same fault again.
        for answer in [at(pager, DATA) | WRITABLE_REPLY, at(SERVER, DATA) | WRITABLE_REPLY, 0] {
            let faulted = world.touch(&paged, 13, address);
            world.reply(0, answer);
            world.assert_again(&between, &faulted, at(CLIENT, LOAD));
            assert_eq!(world.word(paged.range.entries + 8), 0);
        }
        // The pager refuses, or answers what is not its own.
        for (cause, _) in CAUSES {
            for reply in [(1, 0), (0, at(SERVER, DATA) | WRITABLE_REPLY), (0, at(pager, READ_ONLY))]
            {
                let faulted = world.touch(&paged, cause, address);
                world.pass_fault_on(&passed);
                world.reply(reply.0, reply.1);
                world.assert_at(SERVER, RESUME);
                let expected = if reply.0 == 0 { Error::Malformed.status() } else { 1 };
                assert_eq!(world.machine.get(A0) as i64, expected);
                world.reply(1, 0);
                world.assert_unmended(&between, &faulted, (cause, address));
                assert_eq!(world.word(paged.range.entries + 8), 0);
            }
        }
        // It asks twice, and refuses then: the client has the page, and its fault is none that is mended.
        let faulted = world.touch(&paged, 13, address);
        for page in [DATA, DATA + PAGE_SIZE] {
            world.pass_fault_on(&passed);
            world.assert_asked(&passed.asked, 1, address);
            world.reply(0, at(pager, page) | WRITABLE_REPLY);
        }
        world.reply(Error::Busy.status() as u64, 0);
        world.assert_unmended(&between, &faulted, (13, address));
    }
}

#[test]
fn faults_are_passed_on_in_faults_of_that_range_alone() {
    let mut world = World::living(Fences::ByAsid, 5);
    let (paged, between, passed) = interposed(&mut world, BACKEND);
    let other = world.add_range(CLIENT, BACKEND, RANGE + 16 * PAGE_SIZE, true);
    world.stand_before(&other, SERVER);
    // An ordinary call of the client's, a fault of another range, and a thread of the interposer's own.
    let call = world.connect("npci", CLIENT, SERVER);
    let stack = world.usual_stack(&call);
    world.call(call.index, stack, [0; 8]);
    let refused = |world: &mut World| {
        let crossed = world.pass_fault_on(&passed);
        world.assert_at(SERVER, RESUME);
        assert_eq!(world.machine.get(A0) as i64, Error::NotAllowed.status());
        assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
        world.assert_given_back(&passed.asked);
    };
    refused(&mut world);
    world.reply(0, 0);
    world.touch(&other, 13, other.page(0));
    refused(&mut world);
    world.reply(0, 0);
    // In the right one, but further on: what the pager calls is not asked on behalf of the client.
    let faulted = world.touch(&paged, 13, paged.page(0));
    world.pass_fault_on(&passed);
    world.assert_asked(&passed.asked, 1, paged.page(0));
    world.reply(0, at(BACKEND, DATA) | WRITABLE_REPLY);
    world.reply(0, 0);
    world.assert_again(&between, &faulted, at(CLIENT, LOAD));
}

#[test]
fn whoever_dies_nothing_is_mapped_in_another_life() {
    for pager in [BACKEND, KERNEL_BACKEND] {
        // The client, while the pager works: it is dead, or lives again.
        for (place, word) in [(FIELD_ALIVE, 0), (FIELD_GENERATION, LIFE + 1)] {
            let mut world = World::living(Fences::ByAsid, 6);
            let (paged, _, passed) = interposed(&mut world, pager);
            world.touch(&paged, 13, paged.page(0));
            world.pass_fault_on(&passed);
            let table = world.table(CLIENT);
            world.set_word(table.wrapping_add_signed(place), word);
            world.reply(0, at(pager, DATA) | WRITABLE_REPLY);
            world.assert_at(SERVER, RESUME);
            assert_eq!(world.machine.get(A0) as i64, Error::Malformed.status());
            assert_eq!(world.word(paged.range.entries), 0);
        }
        // The interposer, while the pager works.
        let mut world = World::living(Fences::ByAsid, 7);
        let (paged, between, passed) = interposed(&mut world, pager);
        let faulted = world.touch(&paged, 15, paged.page(2));
        world.pass_fault_on(&passed);
        let frame = world.machine.csr.sscratch;
        world.mark_dead(frame);
        world.reply(0, at(pager, DATA) | WRITABLE_REPLY);
        world.assert_unmended(&between, &faulted, (15, paged.page(2)));
        assert_eq!(world.word(paged.range.entries + 16), 0);
        world.assert_given_back(&passed.asked);
    }
}

#[test]
fn without_a_stack_of_the_interposer_the_thread_waits() {
    for limit in [0, 77] {
        let mut world = World::living(Fences::ByAsid, 8);
        let mut paged = world.add_range(CLIENT, BACKEND, RANGE, true);
        if limit != 0 {
            // The frame of such a pager is longer.
            paged.crossing.limits.call = limit;
            let (range, crossing) = (paged.range, paged.crossing);
            paged.code =
                world.generate(|words, address| generate::fault(&range, &crossing, words, address));
        }
        let between = world.stand_before(&paged, SERVER);
        world.set_word(between.crossing.queue, 0);
        let faulted = world.touch(&paged, 13, paged.page(0));
        world.assert_upcall(Upcall::StackWait, THREAD, 8, between.crossing.queue);
        assert!(!world.frames().iter().any(|frame| frame.names(world.end(SERVER).domain)));
        world.fill_queue(between.crossing.queue, &between.activations);
        world.reply(0, 0);
        world.assert_again(&between, &faulted, at(CLIENT, LOAD));
        world.cross();
        world.assert_entered(SERVER, INNER, 1, 0);
        let frames = world.frames();
        assert_eq!(
            frames[0].limit.map(|limit| limit.longest_call),
            None,
            "the interposer has none"
        );
        // Called home.
        let link = world.machine.csr.sscratch.wrapping_add_signed(FRAME_RA);
        assert_eq!(world.word(link), at(CLIENT, LOAD));
    }
}

#[test]
fn at_a_full_invocation_stack_nobody_gets_around_the_interposer() {
    let mut world = World::living(Fences::ByAsid, 9);
    let (paged, between, _) = interposed(&mut world, BACKEND);
    world.fill_invocation_stack();
    let faulted = world.touch(&paged, 13, paged.page(0));
    world.assert_unmended(&between, &faulted, (13, paged.page(0)));
}

#[test]
fn an_interposer_in_the_kernel_domain_is_none() {
    let mut world = World::living(Fences::ByAsid, 10);
    let paged = world.add_range(CLIENT, BACKEND, RANGE, true);
    let specification = Specification::parse("kp").unwrap();
    let (crossing, _) = world.crossing(&specification, CLIENT, KERNEL_SERVER, 1);
    let between = FaultBetween { inner: 0, again: 0, size: FAULT_FRAME as u16, unmended: 0 };
    let made = generate::fault_between(&paged.range, &between, &crossing, &mut [0; 1024], 0);
    assert_eq!(made, Err(GenerateError::DoesNotFit));
}
