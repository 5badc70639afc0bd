//! Page faults of a range: the pager is called by the instruction that faulted, and what it answers is mapped.

use crate::run::*;
use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::domain::{FIELD_GENERATION, upcall_entry};
use cairn_abi::page_table::{PTE_LOST, WRITE};
use cairn_abi::thread::*;
use cairn_abi::{Error, domain};
use cairn_emulator::register::*;
use cairn_emulator::{Interrupt, Options, Step};
use cairn_portal::{Crossing, Fences, Generated, PagedRange, Source, Specification, generate};

/// Where the range lies in its client's region, and its pages.
pub const RANGE: u64 = 0x18_0000;
const PAGES: u64 = 4;
/// Causes of page faults, by the rights that were lacking.
pub const CAUSES: [(u64, u64); 3] = [(12, 0), (13, 1), (15, 3)];
/// What the pager answers, below the address: read, and write.
pub const READ_ONLY_REPLY: u64 = 1;
pub const WRITABLE_REPLY: u64 = 3;
/// The range's number.
pub const NUMBER: u64 = 0x1_2345_6789;

#[derive(Clone)]
pub struct Paged {
    pub client: usize,
    pub pager: usize,
    pub range: PagedRange,
    pub crossing: Crossing,
    pub code: Generated,
    pub activations: Vec<Activation>,
}

impl Paged {
    pub fn page(&self, number: u64) -> u64 {
        self.range.first + number * PAGE_SIZE
    }
}

impl World {
    /// Kernel address of the page-table entry for an address of a domain.
    pub fn entry_of(&self, domain: usize, address: u64) -> u64 {
        let space = &self.spaces[if is_kernel(domain) { 0 } else { domain }];
        space.entry(&self.machine.memory, address).unwrap() - TABLES_PHYSICAL + PAGE_TABLES
    }

    /// From now on a pager provides a range of a client with pages.
    pub fn add_range(
        &mut self,
        client: usize,
        pager: usize,
        offset: u64,
        is_writable: bool,
    ) -> Paged {
        let specification = Specification::parse(if is_kernel(pager) { "km" } else { "nm" });
        let (crossing, activations) = self.crossing(&specification.unwrap(), client, pager, 1);
        let source = at(pager, 0);
        let crossing = Crossing {
            source: Source::Memory { first: source, size: SOURCE_SIZE },
            source_entry: self.entry_of(pager, source),
            constant: NUMBER,
            ..crossing
        };
        let first = at(client, offset);
        let entries = self.entry_of(client, first);
        let table = self.table(client);
        let place = |cause: u64| table.wrapping_add_signed(upcall_entry(cause as u8));
        let elsewhere = self.word(place(13));
        let range = PagedRange { first, size: PAGES * PAGE_SIZE, entries, is_writable, elsewhere };
        let code =
            self.generate(|words, address| generate::fault(&range, &crossing, words, address));
        for (cause, _) in CAUSES {
            self.set_word(place(cause), code.call);
        }
        Paged { client, pager, range, crossing, code, activations }
    }

    /// The client executes an access to an address, with random registers beside.
    pub fn touch(&mut self, paged: &Paged, cause: u64, address: u64) -> Crossed {
        self.scramble();
        let stack = self.random.u64(..);
        self.machine.set(SP, stack);
        self.machine.set(A1, address);
        let offset = if cause == 15 { STORE } else { LOAD };
        self.machine.program_counter = if cause == 12 { address } else { at(paged.client, offset) };
        assert_eq!(self.running(), paged.client);
        self.cross()
    }

    /// Whether the pager has just been called for an address.
    pub fn assert_asked(&self, paged: &Paged, rights: u64, address: u64) {
        self.assert_at(paged.pager, ENTRY);
        let offset = address - paged.range.first;
        let expected = [0, 0, THREAD as u64, NUMBER, offset, rights, 7, 0];
        for (register, value) in ARGUMENTS.into_iter().zip(expected) {
            assert_eq!(self.machine.get(register), value, "{}", name(register));
        }
        assert_eq!(self.machine.get(RA), paged.crossing.stub);
        if is_kernel(paged.pager) {
            return;
        }
        assert_eq!(self.machine.get(SP), paged.activations[0].stack);
        for register in SAVED.into_iter().chain(TEMPORARY) {
            assert_eq!(self.machine.get(register), 0, "{} tells nothing", name(register));
        }
        assert_eq!(self.word(paged.crossing.queue), 0, "the stack is taken");
    }

    pub fn assert_given_back(&self, paged: &Paged) {
        for activation in &paged.activations {
            assert_eq!(self.word(paged.crossing.queue), activation.descriptor);
        }
    }

    /// Whether the client stands at the instruction that faulted, as it was.
    pub fn assert_again(&self, paged: &Paged, faulted: &Crossed, place: u64) {
        assert_eq!((self.running(), self.machine.program_counter), (paged.client, place));
        assert_eq!(self.machine.registers(), faulted.before);
        assert_eq!(self.machine.csr.sscratch, faulted.frame_before);
        self.assert_given_back(paged);
    }

    /// Whether the fault went the way of those without a pager, with all that the client had.
    pub fn assert_unmended(
        &mut self,
        paged: &Paged,
        faulted: &Crossed,
        (cause, value): (u64, u64),
    ) {
        self.assert_upcall(Upcall::Fault, THREAD, cause, value);
        let frame = self.machine.csr.sscratch;
        assert_eq!(frame, faulted.frame_before + TRAP_FRAME as u64);
        for register in 1..32u8 {
            let saved = self.word(frame.wrapping_add_signed(trap_register(register.into())));
            assert_eq!(saved, faulted.before[usize::from(register)], "{}", name(register));
        }
        self.assert_given_back(paged);
        self.reply(0, 0);
        assert_eq!(self.machine.registers(), faulted.before);
        assert_eq!(self.running(), paged.client);
    }
}

pub fn set_life(world: &mut World, client: usize) {
    let place = world.table(client).wrapping_add_signed(FIELD_GENERATION);
    world.set_word(place, 7);
}

#[test]
fn what_a_pager_answers_is_mapped() {
    let fences = [Fences::ByAsid, Fences::BySatp, Fences::WithoutAsids];
    for (seed, pager) in [(1, SERVER), (2, KERNEL_SERVER)] {
        for fences in fences {
            let mut world = World::with(Options::default(), fences, seed);
            set_life(&mut world, CLIENT);
            let paged = world.add_range(CLIENT, pager, RANGE, true);
            for (number, (cause, rights)) in [(0, CAUSES[1]), (1, CAUSES[2]), (3, CAUSES[1])] {
                let address = paged.page(number) + 0x123;
                let faulted = world.touch(&paged, cause, address);
                let place = at(CLIENT, if cause == 15 { STORE } else { LOAD });
                world.assert_asked(&paged, rights, address);
                let from = at(pager, DATA + number * PAGE_SIZE);
                world.set_word(from + 0x120, 0x8877_6655_4433_2211);
                let back = world.reply(0, from | WRITABLE_REPLY);
                world.assert_again(&paged, &faulted, place);
                assert!(back.instructions < 110, "{}", back.instructions);
                assert!(faulted.instructions < 150, "{}", faulted.instructions);
                assert_eq!(world.machine.step(), Step::Completed, "{cause}");
                let value = world.word(from + 0x120);
                match cause {
                    15 => assert_eq!(value >> 24 & 0xff, faulted.before[usize::from(A0)] & 0xff),
                    _ => assert_eq!(world.machine.get(A0), 0x44),
                }
                // Both rights were given.
                assert!(world.store(address, 5).is_ok() && world.load(address) == Ok(5));
                assert_eq!(world.load(paged.page(2)).map_err(|trap| trap.code), Err(13));
            }
        }
    }
}

#[test]
fn rights_are_those_of_reply_and_range() {
    for (is_writable, reply) in [(false, WRITABLE_REPLY), (true, READ_ONLY_REPLY), (false, 0xffc)] {
        let mut world = World::new(3);
        set_life(&mut world, CLIENT);
        let paged = world.add_range(CLIENT, SERVER, RANGE, is_writable);
        world.touch(&paged, 13, paged.page(0));
        let page = at(SERVER, DATA);
        world.reply(0, page | reply);
        assert_eq!(world.machine.step(), Step::Completed);
        // It faults again, with the right that is lacking.
        let faulted = world.touch(&paged, 15, paged.page(0));
        world.assert_asked(&paged, 3, paged.page(0));
        let other = page + PAGE_SIZE;
        world.set_word(other, 0x99);
        world.reply(0, other | WRITABLE_REPLY);
        world.assert_again(&paged, &faulted, at(CLIENT, STORE));
        // Another page is there now, and no translation of the one before.
        assert_eq!(world.load(paged.page(0)), Ok(0x99));
        assert_eq!(world.store(paged.page(0), 1).is_ok(), is_writable);
        // Nothing is ever executed there, nor passed on in a window.
        world.touch(&paged, 12, paged.page(0));
        world.assert_asked(&paged, 0, paged.page(0));
        world.reply(0, other | WRITABLE_REPLY);
        let entry = world.word(paged.range.entries);
        assert_eq!(entry & (cairn_abi::page_table::EXECUTE | cairn_abi::page_table::OWN), 0);
    }
}

/// A pager has no other pages than its own, whatever it answers.
#[test]
fn other_replies_are_the_fault_of_the_client() {
    for pager in [SERVER, KERNEL_SERVER] {
        let mut world = World::new(4);
        let paged = world.add_range(CLIENT, pager, RANGE, true);
        let window = paged.activations.first().map_or(0, |activation| activation.stack + PAGE_SIZE);
        let replies = [
            (Error::NotFound.status() as u64, at(pager, DATA) | WRITABLE_REPLY),
            (1, 0),
            (0, 0),
            (0, at(CLIENT, DATA) | WRITABLE_REPLY),
            (0, at(BACKEND, DATA) | WRITABLE_REPLY),
            (0, at(pager, SOURCE_SIZE)),
            (0, at(pager, 0) - PAGE_SIZE),
            (0, at(pager, NOTHING)),
            (0, at(pager, READ_ONLY)),
            (0, at(pager, IMAGE_OFFSET)),
            (0, window),
            (0, KERNEL | WRITABLE_REPLY),
            (0, NUCLEUS),
            (0, PAGE_TABLES),
            (0, u64::MAX),
            (0, at(pager, DATA).wrapping_add(1 << 39)),
        ];
        for (status, value) in replies {
            for (cause, _) in CAUSES {
                let address = paged.page(1);
                let faulted = world.touch(&paged, cause, address);
                world.reply(status, value);
                world.assert_unmended(&paged, &faulted, (cause, address));
                assert_eq!(world.word(paged.range.entries + 8), 0, "{value:#x}");
            }
        }
        let lost = paged.range.entries + 8;
        world.set_word(lost, PTE_LOST);
        let faulted = world.touch(&paged, 13, paged.page(1));
        world.reply(0, at(pager, DATA) | WRITABLE_REPLY);
        world.assert_unmended(&paged, &faulted, (13, paged.page(1)));
        assert_eq!(world.word(lost), PTE_LOST, "a page that is lost stays so");
    }
}

#[test]
fn faults_outside_of_ranges_have_no_pager() {
    let mut world = World::new(5);
    set_life(&mut world, CLIENT);
    let one = world.add_range(CLIENT, SERVER, RANGE, true);
    let two = world.add_range(CLIENT, BACKEND, RANGE + 16 * PAGE_SIZE, false);
    let end = PAGES * PAGE_SIZE;
    for (range, address) in [(&one, one.range.first), (&two, two.range.first + end - 1)] {
        let faulted = world.touch(range, 13, address);
        world.assert_asked(range, 1, address);
        world.reply(0, at(range.pager, DATA) | WRITABLE_REPLY);
        world.assert_again(range, &faulted, at(CLIENT, LOAD));
    }
    for address in [
        one.range.first - 1,
        one.range.first + end,
        two.range.first - 1,
        two.range.first + end,
        u64::MAX,
        NUCLEUS,
    ] {
        let faulted = world.touch(&one, 13, address);
        world.assert_unmended(&one, &faulted, (13, address));
    }
}

/// The thread waits in the scheduler, and then its instruction runs again.
#[test]
fn without_a_stack_the_thread_waits() {
    for status in [0, Error::Cancelled.status() as u64] {
        let mut world = World::new(6);
        set_life(&mut world, CLIENT);
        let paged = world.add_range(CLIENT, SERVER, RANGE, true);
        world.set_word(paged.crossing.queue, 0);
        let faulted = world.touch(&paged, 13, paged.page(0));
        world.assert_upcall(Upcall::StackWait, THREAD, 8, paged.crossing.queue);
        // It is in no pager: only its own domain holds it.
        let named = world.frames();
        assert!(!named.iter().any(|frame| frame.names(world.end(SERVER).domain)));
        world.fill_queue(paged.crossing.queue, &paged.activations);
        world.reply(status, 0);
        world.assert_again(&paged, &faulted, at(CLIENT, LOAD));
        let again = world.cross();
        world.assert_asked(&paged, 1, paged.page(0));
        world.reply(0, at(SERVER, DATA) | WRITABLE_REPLY);
        world.assert_again(&paged, &again, at(CLIENT, LOAD));
    }
}

/// Somebody else waits for the stack that is given back.
#[test]
fn who_waits_for_the_stack_is_woken() {
    for reply in [(0, at(SERVER, DATA)), (1, 0)] {
        let mut world = World::new(7);
        let paged = world.add_range(CLIENT, SERVER, RANGE, true);
        let faulted = world.touch(&paged, 13, paged.page(0));
        world.set_word(paged.crossing.waiters, 1);
        world.reply(reply.0, reply.1);
        if reply.0 == 0 {
            assert!(world.machine.csr.software_pending, "the scheduler hears of it");
            world.cross();
            world.assert_upcall(Upcall::Software, THREAD, Interrupt::Software.code(), 0);
        } else {
            world.machine.csr.software_pending = false;
            world.assert_unmended(&paged, &faulted, (13, paged.page(0)));
        }
    }
}

#[test]
fn a_pager_that_dies_leaves_the_fault_to_others() {
    for pager in [SERVER, KERNEL_SERVER] {
        let mut world = World::new(8);
        let paged = world.add_range(CLIENT, pager, RANGE, true);
        let faulted = world.touch(&paged, 15, paged.page(2));
        world.machine.csr.stimecmp = 0;
        world.cross();
        world.machine.csr.stimecmp = u64::MAX;
        let top = world.machine.csr.sscratch;
        let dead = world.nucleus.symbol("trap_dead");
        world.set_word(top.wrapping_add_signed(FRAME_RETURN), dead);
        world.reply(0, 0);
        world.assert_unmended(&paged, &faulted, (15, paged.page(2)));
    }
}

/// The client is a server itself, and dies while its pager works, or while its thread waits for a stack of the pager.
#[test]
fn a_client_that_dies_is_an_error_of_its_caller() {
    for (pager, waits) in [(BACKEND, false), (KERNEL_BACKEND, false), (BACKEND, true)] {
        let mut world = World::new(9);
        let outer = world.connect("npiw", CLIENT, SERVER);
        let paged = world.add_range(SERVER, pager, RANGE, true);
        let (buffers, before) = world.checked_call(&outer);
        if waits {
            world.set_word(paged.crossing.queue, 0);
        }
        world.touch(&paged, 13, paged.page(0));
        let frame = world.machine.csr.sscratch;
        world.mark_dead(frame);
        let trap = frame - FAULT_FRAME as u64;
        let dead = world.nucleus.symbol("trap_dead");
        world.set_word(trap.wrapping_add_signed(FRAME_RETURN), dead);
        let back = world.reply(0, 5);
        if !waits {
            world.assert_given_back(&paged);
        }
        world.assert_dead(&outer, &before, &buffers, &back.before);
        assert_eq!(world.word(paged.range.entries), 0, "nothing is mapped");
    }
}

#[test]
fn a_thread_that_is_called_home_faults_where_it_comes_back() {
    let mut world = World::new(10);
    let paged = world.add_range(CLIENT, SERVER, RANGE, true);
    let faulted = world.touch(&paged, 13, paged.page(0));
    let link = world.machine.csr.sscratch.wrapping_add_signed(FRAME_RA);
    assert_eq!(world.word(link), at(CLIENT, LOAD));
    world.set_word(link, at(CLIENT, LOAD) | KERNEL);
    world.reply(0, at(SERVER, DATA) | WRITABLE_REPLY);
    assert_eq!(world.machine.program_counter, at(CLIENT, LOAD) | KERNEL);
    assert_eq!(world.machine.registers(), faulted.before);
    world.cross();
    world.assert_upcall(Upcall::Fault, THREAD, 12, at(CLIENT, LOAD) | KERNEL);
}

#[test]
fn at_a_full_invocation_stack_there_is_no_pager() {
    let mut world = World::new(11);
    let paged = world.add_range(CLIENT, SERVER, RANGE, true);
    world.fill_invocation_stack();
    let faulted = world.touch(&paged, 13, paged.page(0));
    world.assert_unmended(&paged, &faulted, (13, paged.page(0)));
}

/// Portals touch user memory too: such a fault is no pager's, and the call has not begun.
#[test]
fn what_is_not_mapped_yet_is_passed_on_by_nobody() {
    'length: for length in [1, COPY_MAXIMUM, PAGE_SIZE] {
        let mut world = World::new(12);
        let paged = world.add_range(CLIENT, SERVER, RANGE, true);
        let call = world.connect("npir", CLIENT, SERVER);
        for _ in 0..2 {
            let stack = world.usual_stack(&call);
            world.call(call.index, stack, [0, paged.page(0), length, 0, 0, 0, 0, 0]);
            let status = world.machine.get(A0) as i64;
            if world.running() == SERVER {
                // A copy of what is there.
                assert!(length <= COPY_MAXIMUM && world.word(paged.range.entries) & WRITE != 0);
                continue 'length;
            }
            assert_eq!(status, Error::BadPointer.status());
            world.assert_at(CLIENT, RESUME);
            world.touch(&paged, 15, paged.page(0));
            world.reply(0, at(SERVER, DATA) | WRITABLE_REPLY);
        }
        assert!(length > COPY_MAXIMUM, "{length}");
    }
}

#[test]
fn a_limit_of_the_pager_is_in_its_frame() {
    let mut world = World::new(13);
    let mut paged = world.add_range(CLIENT, SERVER, RANGE, true);
    paged.crossing.limits.call = 77;
    let (range, crossing) = (paged.range, paged.crossing);
    let code = world.generate(|words, address| generate::fault(&range, &crossing, words, address));
    let entry = world.table(CLIENT).wrapping_add_signed(domain::upcall_entry(13));
    world.set_word(entry, code.call);
    world.machine.csr.time = 5000;
    let faulted = world.touch(&paged, 13, paged.page(0));
    let limit = world.frames()[0].limit.expect("it has one");
    assert!(limit.longest_call == Some(77) && (5000..5200).contains(&limit.stamp));
    world.reply(0, at(SERVER, DATA) | WRITABLE_REPLY);
    world.assert_again(&paged, &faulted, at(CLIENT, LOAD));
    let _ = paged.code;
}
