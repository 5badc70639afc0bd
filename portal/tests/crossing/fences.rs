//! Translation fences: windows that are closed, and domains without ASIDs. The emulator's hart keeps
//! every translation that no fence names; the tests run once more with the fences taken out, to show
//! that they can fail.

use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::privileged::PORTAL_FENCE_TRANSLATION;
use cairn_emulator::register::*;
use cairn_emulator::{Fencing, Options, encode};
use cairn_portal::Fences;
use cairn_portal::literal::{LITERAL_MARK, LITERAL_RETURN, MARK_RETURN};

/// Replaces every `sfence.vma` in the nucleus' text by nothing.
pub fn without_fences(world: &mut World) {
    let (address, text) = world.nucleus.parts[0].clone();
    let mut removed = 0;
    for offset in (0..text.len() - 3).step_by(2) {
        let word = u32::from_le_bytes(text[offset..offset + 4].try_into().unwrap());
        if word >> 25 == 9 && word & 0x7fff == 0x73 {
            world.write_bytes(address + offset as u64, &encode::bytes(&[encode::NOP]));
            removed += 1;
        }
    }
    assert!(removed >= 4, "the nucleus fences each page of a window");
}

/// How many pages of a window the callee still reaches after the call has ended in this way.
pub fn reachable_afterwards(
    world: &mut World,
    kind: &str,
    pages: u64,
    end: impl Fn(&mut World),
) -> u64 {
    let mut reached = 0;
    let connection = world.connect(kind, CLIENT, SERVER);
    let again = world.connect("npi", CLIENT, SERVER);
    let stack = world.usual_stack(&connection);
    let arguments = [at(CLIENT, DATA), pages * PAGE_SIZE, 0, 0, 0, 0, 0, 0];
    world.call(connection.index, stack, arguments);
    world.assert_at(SERVER, ENTRY);
    let window = world.machine.get(A0);
    for page in 0..pages {
        world.load(window + page * PAGE_SIZE).expect("the window is open");
    }
    end(world);
    assert_eq!(world.machine.csr.sscratch, base_header());
    assert_eq!(world.running(), CLIENT);
    world.call_any(&again);
    world.assert_at(SERVER, ENTRY);
    for page in 0..pages {
        reached += u64::from(world.load(window + page * PAGE_SIZE).is_ok());
    }
    reached
}

/// The callee faults and is unwound.
pub fn fault(world: &mut World) {
    world.machine.set(A1, at(SERVER, NOTHING));
    world.machine.program_counter = at(SERVER, LOAD);
    world.cross();
    let frame = world.machine.csr.sscratch;
    let trap_return = world.word(frame);
    assert_eq!(world.word(trap_return.wrapping_add_signed(LITERAL_MARK)), MARK_RETURN);
    let dead = world.word(trap_return.wrapping_add_signed(LITERAL_RETURN));
    world.set_word(frame, dead);
    world.reply(0, 0);
}

impl World {
    /// For a hart without ASIDs whose portals rely on them: tells the domains apart by what such a
    /// hart keeps of `satp`.
    pub fn forget_asids(&mut self) {
        for space in &mut self.spaces {
            space.asid = 0;
        }
        self.machine.csr.satp = self.spaces[CLIENT].satp();
    }
}

#[test]
fn a_closed_window_cannot_be_reached() {
    for kind in ["npr", "npw", "nmr", "smw", "spr"] {
        for pages in 1..=4 {
            let by_return = |world: &mut World| drop(world.reply(0, 0));
            let mut world = World::new(60);
            assert_eq!(reachable_afterwards(&mut world, kind, pages, by_return), 0);
            let mut world = World::new(60);
            assert_eq!(reachable_afterwards(&mut world, kind, pages, fault), 0);

            let mut world = World::new(60);
            without_fences(&mut world);
            assert_eq!(reachable_afterwards(&mut world, kind, pages, by_return), pages);
            let mut world = World::new(60);
            without_fences(&mut world);
            assert_eq!(reachable_afterwards(&mut world, kind, pages, fault), pages);
        }
    }
}

/// Windows of a frame whose caller is dead, closed on the way to the frame below.
#[test]
fn a_window_closed_by_the_dead_entry_cannot_be_reached() {
    assert!(!reachable_after_dead_entry(&mut World::new(61)));
    let mut world = World::new(61);
    without_fences(&mut world);
    assert!(reachable_after_dead_entry(&mut world));
}

pub fn reachable_after_dead_entry(world: &mut World) -> bool {
    let again = world.connect("npi", CLIENT, BACKEND);
    let page = closed_by_dead_entry(world, BACKEND);
    world.call_any(&again);
    world.assert_at(BACKEND, ENTRY);
    world.load(page).is_ok()
}

/// Client calls server, which dies while its window is open in another; that comes back to the client. A page of the window.
pub fn closed_by_dead_entry(world: &mut World, other: usize) -> u64 {
    let outer = world.connect("npi", CLIENT, SERVER);
    let inner = world.connect("npw", SERVER, other);
    world.call_any(&outer);
    let stack = world.usual_stack(&inner);
    world.call(inner.index, stack, [at(SERVER, DATA), 2 * PAGE_SIZE, 0, 0, 0, 0, 0, 0]);
    world.assert_at(other, ENTRY);
    let page = world.machine.get(A0) + PAGE_SIZE;
    world.store(page, 1).expect("the window is open");
    world.mark_dead(world.machine.csr.sscratch);
    world.reply(0, 0);
    world.assert_at(CLIENT, RESUME);
    page
}

/// The refusal of a later parameter closes the windows of earlier ones. The callee never ran, but
/// its domain may have another thread on another hart later; the entries are what counts.
#[test]
fn a_window_opened_before_a_refusal_is_closed() {
    let mut world = World::new(62);
    let connection = world.connect("npwr", CLIENT, SERVER);
    let stack = world.usual_stack(&connection);
    let arguments = [at(CLIENT, DATA), 4 * PAGE_SIZE, at(CLIENT, NOTHING), PAGE_SIZE, 0, 0, 0, 0];
    let crossed = world.call(connection.index, stack, arguments);
    world.assert_at(CLIENT, RESUME);
    let entries = crate::calls::window_entries(&connection.activations[0], 0);
    let written: Vec<u64> = crossed
        .journal
        .writes
        .iter()
        .filter(|write| (physical(entries.start)..physical(entries.end)).contains(&write.address))
        .map(|write| write.new)
        .collect();
    assert_eq!(written.len(), 8, "four entries, set and cleared");
    assert!(written[..4].iter().all(|entry| *entry != 0));
    assert_eq!(written[4..], [0; 4]);
}

/// A hart without ASIDs: `fences` tells whether the portals know.
fn one_asid(fences: bool) -> World {
    let options = Options { asid_bits: 0, ..Options::default() };
    World::with(options, if fences { Fences::WithoutAsids } else { Fences::ByAsid }, 63)
}

/// What the server reaches of the client's memory, and the client of the server's after the return.
fn leaks(world: &mut World, kind: &str) -> [bool; 2] {
    let connection = world.connect(kind, CLIENT, SERVER);
    let (client, server) = (at(CLIENT, DATA), at(SERVER, DATA));
    world.load(client).expect("the client's own memory");
    let (arguments, _) = world.arguments(&connection);
    let stack = world.usual_stack(&connection);
    world.call(connection.index, stack, arguments);
    assert_eq!(world.machine.program_counter, at(SERVER, ENTRY));
    let forth = world.load(client).is_ok();
    world.load(server).expect("the server's own memory");
    world.scramble();
    world.machine.set(T0, 0);
    world.machine.program_counter = at(SERVER, CALL);
    world.cross();
    assert_eq!(world.machine.program_counter, at(CLIENT, RESUME));
    [forth, world.load(server).is_ok()]
}

#[test]
fn without_asids_entering_a_domain_fences() {
    for kind in ["smi", "spi", "nmi", "npi", "npr", "npww"] {
        assert_eq!(leaks(&mut one_asid(true), kind), [false; 2], "{kind}");
    }
    let mut world = World::new(63);
    assert_eq!(leaks(&mut world, "npi"), [false; 2], "with ASIDs, no fence is needed");
}

/// They have no fence of their own: those of the switches are enough.
#[test]
fn without_asids_a_closed_window_cannot_be_reached() {
    for kind in ["npr", "npw", "nmr", "smw", "spr"] {
        for pages in 1..=4 {
            let by_return = |world: &mut World| drop(world.reply(0, 0));
            assert_eq!(reachable_afterwards(&mut one_asid(true), kind, pages, by_return), 0);
            assert_eq!(reachable_afterwards(&mut one_asid(true), kind, pages, fault), 0);
        }
    }
    assert!(!reachable_after_dead_entry(&mut one_asid(true)));
}

#[test]
fn without_asids_the_fences_are_what_holds_it() {
    // Portals made for ASIDs on a hart without: `satp` loses its ASID, so the world is asked by root.
    let mut world = one_asid(false);
    world.forget_asids();
    assert_eq!(leaks(&mut world, "npi"), [true; 2]);
}

#[test]
fn without_asids_upcalls_and_trap_returns_fence() {
    let mut world = one_asid(true);
    let (client, scheduler) = (at(CLIENT, DATA), at(SCHEDULER, DATA));
    world.load(client).unwrap();
    world.machine.csr.stimecmp = 0;
    world.cross();
    assert_eq!(world.running(), SCHEDULER);
    assert!(world.load(client).is_err(), "the upcall portal fences");
    world.load(scheduler).unwrap();
    world.machine.csr.stimecmp = u64::MAX;
    world.reply(0, 0);
    assert_eq!(world.running(), CLIENT);
    assert!(world.load(scheduler).is_err(), "the trap return fences");
}

#[test]
fn every_call_works_without_asids() {
    let mut random = fastrand::Rng::with_seed(64);
    for kind in ["sm", "spi", "nmr", "npw", "npriw", "spwcrw"] {
        let options = Options { asid_bits: 0, ..Options::default() };
        let mut world = World::with(options, Fences::WithoutAsids, random.u64(..));
        let connection = world.connect(kind, CLIENT, SERVER);
        for _ in 0..20 {
            world.round_trip(&connection);
        }
    }
}

/// Cores whose fences compare the identifier in `satp`, some or all.
pub const SATP_CORES: [Fencing; 2] = [Fencing::AddressBySatp, Fencing::AlwaysBySatp];

/// A core with these fences, and portals and nucleus for those.
fn core(fencing: Fencing, fences: Fences) -> World {
    World::with(Options { fencing, ..Options::default() }, fences, 65)
}

/// The fence of the manual leaves the callee its window on such a core, since `satp` is the caller's when it closes.
/// The other form holds on every core, however the call ends.
#[test]
fn a_closed_window_cannot_be_reached_whatever_the_fence_compares() {
    for kind in ["npr", "npw", "nmr", "smw", "spr"] {
        for pages in 1..=4 {
            for end in [|world: &mut World| drop(world.reply(0, 0)), fault] {
                for fencing in SATP_CORES {
                    let mut world = core(fencing, Fences::ByAsid);
                    assert_eq!(reachable_afterwards(&mut world, kind, pages, end), pages);
                }
                for fencing in [Fencing::Operand, SATP_CORES[0], SATP_CORES[1]] {
                    let mut world = core(fencing, Fences::BySatp);
                    assert_eq!(reachable_afterwards(&mut world, kind, pages, end), 0);
                }
            }
        }
    }
    // The dead entry comes while `satp` is the callee's still; it must not make a difference.
    for fencing in [Fencing::Operand, SATP_CORES[0], SATP_CORES[1]] {
        assert!(!reachable_after_dead_entry(&mut core(fencing, Fences::BySatp)));
    }
}

#[test]
fn every_call_works_whatever_the_fence_compares() {
    for fencing in [Fencing::Operand, SATP_CORES[0], SATP_CORES[1]] {
        for kind in ["sm", "spi", "nmr", "npw", "npriw", "spwcrw"] {
            let mut world = core(fencing, Fences::BySatp);
            let connection = world.connect(kind, CLIENT, SERVER);
            for _ in 0..20 {
                world.round_trip(&connection);
            }
        }
    }
}

/// Without identifiers `satp` has none either, and such a core drops everything or compares zeros.
#[test]
fn without_asids_nothing_depends_on_what_the_fence_compares() {
    for fencing in SATP_CORES {
        let options = Options { fencing, asid_bits: 0, ..Options::default() };
        let world = || World::with(options, Fences::WithoutAsids, 66);
        for kind in ["smi", "spi", "npr", "npww"] {
            assert_eq!(leaks(&mut world(), kind), [false; 2], "{kind}");
        }
        for end in [|world: &mut World| drop(world.reply(0, 0)), fault] {
            assert_eq!(reachable_afterwards(&mut world(), "npw", 3, end), 0);
        }
        assert!(!reachable_after_dead_entry(&mut world()));
    }
}

/// Whether the client still reaches a page that was taken from it, after another domain's fence of `address`.
fn reachable_after_fence(world: &mut World, address: u64) -> bool {
    let page = at(CLIENT, DATA);
    world.load(page).expect("the client's own memory");
    let connection = world.connect("npr", CLIENT, SERVER);
    world.set_word(connection.crossing.source_entry + DATA / PAGE_SIZE * 8, 0);
    world.machine.csr.stimecmp = 0;
    world.cross();
    assert_eq!(world.running(), SCHEDULER);
    world.machine.csr.stimecmp = u64::MAX;
    let satp = world.machine.csr.satp;
    let arguments = [address, 0, 0, 0, 0, 0, 0, 0];
    let crossed = world.call(PORTAL_FENCE_TRANSLATION as u64, at(SCHEDULER, STACK - 64), arguments);
    world.assert_at(SCHEDULER, RESUME);
    assert_eq!((world.machine.get(A0), world.machine.csr.satp), (0, satp));
    let kept = (1..32).filter(|register| ![A0, T1, T2].contains(register));
    for register in kept {
        assert_eq!(world.machine.get(register), crossed.left(register));
    }
    world.reply(0, 0);
    assert_eq!(world.running(), CLIENT);
    world.load(page).is_ok()
}

/// The fences of the memory manager, after memory was given back.
#[test]
fn memory_that_was_taken_cannot_be_reached_after_a_fence() {
    for fencing in [Fencing::Operand, SATP_CORES[0], SATP_CORES[1]] {
        for (fences, asid_bits) in
            [(Fences::ByAsid, 16), (Fences::BySatp, 16), (Fences::WithoutAsids, 0)]
        {
            for address in [0, at(CLIENT, DATA)] {
                let options = Options { fencing, asid_bits, ..Options::default() };
                let mut world = World::with(options, fences, 67);
                assert!(!reachable_after_fence(&mut world, address), "{fencing:?}, {fences:?}");
            }
        }
        let mut world = core(fencing, Fences::BySatp);
        without_fences(&mut world);
        assert!(reachable_after_fence(&mut world, 0), "{fencing:?}: the fence is what holds it");
    }
}
