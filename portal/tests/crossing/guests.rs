//! Calls between two in one page table, a guest and its host: neither half of the portal writes `satp`. What comes from elsewhere, out of
//! an abort or a dead entry, enters it still. The emulator's hart keeps every translation that no fence names.

use crate::fences::{closed_by_dead_entry, fault, reachable_afterwards};
use crate::run::Crossed;
use crate::world::*;
use cairn_abi::Space;
use cairn_abi::address::*;
use cairn_emulator::Options;
use cairn_emulator::register::*;
use cairn_portal::{Crossing, Fences, Parameters, Place, Specification, Stack, State, generate};

const KINDS: [&str; 12] =
    ["smi", "spi", "nmi", "npi", "npi4", "npr", "npw", "nmr", "smw", "spr", "npriw", "npwww"];

/// The worlds with a guest, one for each way of fencing.
fn worlds(seed: u64) -> [World; 3] {
    [(Fences::ByAsid, 16), (Fences::BySatp, 16), (Fences::WithoutAsids, 0)].map(
        |(fences, asid_bits)| {
            let options = Options { asid_bits, ..Options::default() };
            World::with_guest(options, fences, seed)
        },
    )
}

/// `csrw satp` of portals that were executed.
fn spaces_entered(world: &World, crossed: &Crossed) -> usize {
    let portals = |address: &&u64| (PORTAL_CODE..THREADS).contains(*address);
    let path = crossed.journal.path.iter().map(|(_, address)| address);
    path.filter(portals).filter(|address| is_entry(world.word(**address) as u32)).count()
}

fn is_entry(instruction: u32) -> bool {
    instruction & 0xfff0_7fff == 0x1800_1073
}

/// A call with memory of the caller, and its return: what each wrote.
fn entered(world: &mut World, connection: &Connection) -> [usize; 2] {
    let (arguments, _) = world.arguments(connection);
    let stack = world.usual_stack(connection);
    let there = world.call(connection.index, stack, arguments);
    world.assert_at(connection.callee, ENTRY);
    let back = world.reply(0, 0);
    world.assert_at(connection.caller, RESUME);
    [&there, &back].map(|crossed| spaces_entered(world, crossed))
}

#[test]
fn a_call_between_guest_and_host_enters_no_space() {
    for kind in KINDS {
        for mut world in worlds(70) {
            let connection = world.connect(kind, CLIENT, SERVER);
            let further = world.connect("npi", CLIENT, BACKEND);
            for _ in 0..10 {
                world.round_trip(&connection);
                // What comes back from another space does not matter to the next.
                world.round_trip(&further);
            }
            assert_eq!(entered(&mut world, &connection), [0; 2], "{kind}");
            assert_eq!(entered(&mut world, &further), [1; 2], "{kind}");
        }
    }
}

/// Host, guest, a third in a space of its own, and from there the host once more, which calls its guest.
#[test]
fn a_guest_that_calls_elsewhere_comes_back_into_the_space_of_its_host() {
    for kind in KINDS {
        for mut world in worlds(71) {
            let usual = if kind.starts_with('s') { "npi" } else { kind };
            let ends = [(CLIENT, SERVER), (SERVER, BACKEND), (BACKEND, CLIENT)];
            let connections: Vec<Connection> = (ends.into_iter().zip([kind, usual, usual]))
                .map(|((from, to), kind)| world.connect(kind, from, to))
                .collect();
            let mut inside = Vec::new();
            for connection in &connections {
                inside.push(world.checked_call(connection));
            }
            for (connection, (buffers, before)) in connections.iter().zip(inside).rev() {
                world.checked_return(connection, buffers, &before);
            }
            assert_eq!(world.machine.csr.satp, world.spaces[CLIENT].satp());
            world.round_trip(&connections[0]);
        }
    }
}

#[test]
fn a_guest_that_faults_is_an_error_of_its_host() {
    for kind in KINDS {
        for mut world in worlds(72) {
            let connection = world.connect(kind, CLIENT, SERVER);
            let (buffers, before) = world.checked_call(&connection);
            world.scramble();
            world.machine.set(A1, at(SERVER, NOTHING));
            world.machine.program_counter = at(SERVER, LOAD);
            world.cross();
            world.assert_upcall(Upcall::Fault, THREAD, 13, at(SERVER, NOTHING));
            world.mark_dead(world.machine.csr.sscratch);
            let back = world.reply(0, 0);
            assert!(spaces_entered(&world, &back) > 0, "the abort entry enters the host's space");
            world.assert_dead(&connection, &before, &buffers, &back.before);
            world.round_trip(&connection);
        }
    }
}

/// The thread is in a third space when the guest dies, and comes from there to the host.
#[test]
fn a_guest_that_dies_while_its_thread_is_elsewhere_is_an_error_of_its_host() {
    for kind in KINDS {
        for inner in ["npi", "npwww", "kpi"] {
            for mut world in worlds(73) {
                let outer = world.connect(kind, CLIENT, SERVER);
                let inner = world.connect(inner, SERVER, World::callee(inner, BACKEND));
                let (buffers, before) = world.checked_call(&outer);
                world.checked_call(&inner);
                world.mark_dead(world.machine.csr.sscratch);
                let back = world.reply(0, 5);
                world.assert_dead(&outer, &before, &buffers, &back.before);
                world.round_trip(&outer);
            }
        }
    }
}

/// The guest is interrupted, others run, and it goes on and comes back.
#[test]
fn a_guest_that_was_interrupted_comes_back() {
    for mut world in worlds(74) {
        let connection = world.connect("npw", CLIENT, SERVER);
        let (buffers, before) = world.checked_call(&connection);
        world.machine.csr.stimecmp = 0;
        world.cross();
        assert_eq!(world.running(), SCHEDULER);
        world.machine.csr.stimecmp = u64::MAX;
        world.reply(0, 0);
        assert_eq!(world.running(), SERVER);
        world.checked_return(&connection, buffers, &before);
    }
}

#[test]
fn a_window_between_guest_and_host_cannot_be_reached_when_it_is_closed() {
    let by_return = |world: &mut World| drop(world.reply(0, 0));
    for kind in ["npr", "npw", "nmr", "smw", "spr"] {
        for pages in 1..=4 {
            for end in [by_return, fault] {
                for mut world in worlds(75) {
                    assert_eq!(reachable_afterwards(&mut world, kind, pages, end), 0, "{kind}");
                }
            }
        }
    }
}

/// Who called from the guest is dead: its window in the host is closed on the way to the frame below.
#[test]
fn a_window_closed_by_the_dead_entry_of_a_guest_cannot_be_reached() {
    for mut world in worlds(76) {
        let page = closed_by_dead_entry(&mut world, CLIENT);
        assert!(world.load(page).is_err());
    }
}

/// Who runs to completion, or is in the kernel domain, or calls from there, is entered as ever: in whose space it comes back is not known.
#[test]
fn no_other_portal_depends_on_whether_spaces_are_equal() {
    let mut world = World::new(77);
    for kind in ["rpc", "rpi", "kpi", "kmr", "nki", "nkr", "rki", "kki", "npi", "spw", "nmr"] {
        let specification = Specification::parse(kind).unwrap();
        let (mut crossing, _) = world.crossing(&specification, CLIENT, SERVER, 0);
        let code = |crossing: &Crossing| {
            let (mut call, mut back) = ([0; 1024], [0; 1024]);
            generate::call((&specification, &Parameters::NONE), None, crossing, &mut call).unwrap();
            generate::back((&specification, &Parameters::NONE), crossing, &mut back).unwrap();
            [call, back]
        };
        let entries = |code: &[u32; 1024]| code.iter().filter(|word| is_entry(**word)).count();
        if matches!(specification.stack, Stack::Kernel) {
            crossing.callee.place = Place::Kernel;
        }
        if specification.state == State::Kernel {
            crossing.caller.place = Place::Kernel;
        }
        let unequal = code(&crossing);
        crossing.callee.space = Space::NONE;
        crossing.caller.space = Space::NONE;
        assert!(code(&crossing) == unequal, "{kind}: no space is no space in common");
        crossing.callee.space = world.end(CLIENT).space;
        crossing.caller.space = crossing.callee.space;
        let equal = code(&crossing);
        match (specification.stack, specification.state) {
            (Stack::Shared | Stack::New, State::Partial | State::Minimal) => {
                assert_eq!(unequal.each_ref().map(entries), [1, 2], "{kind}");
                assert_eq!(equal.each_ref().map(entries), [0, 1], "{kind}: in the abort entry");
            }
            _ => assert!(equal == unequal, "{kind}"),
        }
    }
}
