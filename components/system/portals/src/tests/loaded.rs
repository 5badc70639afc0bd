//! Instances that come while the system runs.

use super::held::fellows;
use super::*;
use crate::blocks::NO_INSTANCE;
use crate::make::GRANULES_OF_DOMAIN;
use cairn_abi::arch::trap::{ILLEGAL, PAGE_FAULTS, slots};
use cairn_abi::domain::{
    FIELD_NUMBER, HELD_QUEUE, PORTAL_TIME, UPCALL_SLOTS, stack_queue, upcall_entry,
};
use cairn_abi::record::{FLOAT_OFF, FLOAT_START, Header, NO_SECTION, PagedRange, Range, Table};
use cairn_abi::upcall::Upcall;
use cairn_portal::invocation::Words;
use cairn_portal::literal::{
    LITERAL_CONSTANT, LITERAL_ELSE, LITERAL_QUEUE, LITERAL_RANGE, LITERAL_RANGE_SIZE,
};

const SERVICE_OF: Known<'static> = Known { version: VERSION, signature: b"cii c " };
/// Where its import is.
const IMPORT: usize = FIRST as usize + 5;

/// Has an instance retire that is dead; the value is in how many steps.
fn retire(world: &mut World, instance: InstanceId) -> usize {
    while world.manager.instance_died(&world.machine, instance).unwrap() != 0 {}
    let (mut steps, mut at) = (0, 0);
    loop {
        at = world.manager.retire_domain(&world.machine, instance, at).unwrap();
        steps += 1;
        if at == 0 {
            return steps;
        }
    }
}

/// A world in which nobody has the number of the client.
fn world_without_client() -> World {
    let mut world = world();
    world.machine.named.borrow_mut().insert(CLIENT.0);
    world.machine.set_alive(CLIENT, false);
    retire(&mut world, CLIENT);
    world
}

fn connect(world: &mut World, first: u64) -> Result<(), Error> {
    let World { machine, manager } = world;
    manager.connect(machine, (CLIENT, first), SERVICE, b"Service", SERVICE_OF)
}

#[test]
fn a_domain_comes_with_upcalls_and_its_own_portals_and_leaves_nothing() {
    let mut world = world_without_client();
    let free = world.free();
    let word = |world: &World, offset| {
        world.machine.words.borrow().get(&(domain_of(CLIENT).0, offset)).copied().unwrap_or(0)
    };
    for round in 0..20 {
        let World { machine, manager } = &mut world;
        assert_eq!(manager.make_domain(machine, CLIENT), Ok(()), "{round}");
        assert_eq!(manager.make_domain(machine, CLIENT), Err(Error::Busy));
        assert!(machine.named.borrow().contains(&CLIENT.0));
        let taken = free - world.free();
        let most = u64::from(GRANULES_OF_DOMAIN) * 128;
        assert!(taken > most / 2 && taken <= most - 128, "{taken} of {most}");
        for upcall in [Upcall::Fault, Upcall::StackWait, Upcall::Software, Upcall::Timer] {
            for slot in slots(upcall).iter().filter(|slot| **slot != ILLEGAL) {
                let code = word(&world, upcall_entry(*slot));
                assert!(world.machine.load_mark(code), "{upcall:?} {slot}");
            }
        }
        assert_eq!(word(&world, upcall_entry(ILLEGAL)), FIRST_USE, "it uses floating point");
        assert_eq!(word(&world, FIELD_NUMBER), domain_of(CLIENT).0.into());
        let no_portal = world.machine.layout().header.no_portal;
        let time = world.machine.entry(domain_of(CLIENT), PORTAL_TIME);
        assert!(time != no_portal && world.machine.load_mark(time));
        assert!(portals_in(&world.machine, CLIENT).is_empty());
        retire(&mut world, CLIENT);
        assert_eq!(world.free(), free);
        assert!((0..UPCALL_SLOTS).all(|slot| word(&world, upcall_entry(slot)) == FATAL));
        assert_eq!(world.machine.entry(domain_of(CLIENT), PORTAL_TIME), no_portal);
        assert!(world.machine.named.borrow().is_empty());
    }
}

fn portals_in(machine: &Fake, instance: InstanceId) -> Vec<usize> {
    let from = cairn_abi::domain::PORTAL_FIRST_IMPORT;
    (from..PORTALS_DESCRIBED).filter(|index| machine.meaning(instance, *index).is_some()).collect()
}

#[test]
fn an_import_leads_to_its_server_from_life_to_life() {
    let mut world = world_without_client();
    assert_eq!(connect(&mut world, IMPORT as u64), Err(Error::BadArgument), "there is none");
    world.manager.make_domain(&world.machine, CLIENT).unwrap();
    let refused = [
        (15, SERVICE, "Service", SERVICE_OF, Error::BadArgument),
        (u64::MAX, SERVICE, "Service", SERVICE_OF, Error::Exhausted),
        (PORTALS_DESCRIBED as u64 - 1, SERVICE, "Service", SERVICE_OF, Error::Exhausted),
        (IMPORT as u64, SERVICE, "Numbers", SERVICE_OF, Error::VersionMismatch),
        (
            IMPORT as u64,
            SERVICE,
            "Service",
            Known { version: 8, ..SERVICE_OF },
            Error::VersionMismatch,
        ),
        (
            IMPORT as u64,
            SERVICE,
            "Service",
            Known { signature: b"c cii ", ..SERVICE_OF },
            Error::VersionMismatch,
        ),
        (IMPORT as u64, SERVICE + 1, "Numbers", SERVICE_OF, Error::NotFound),
        (IMPORT as u64, 99, "Service", SERVICE_OF, Error::NotFound),
    ];
    let before = world.free();
    for (first, export, interface, known, error) in refused {
        let World { machine, manager } = &mut world;
        let made = manager.connect(machine, (CLIENT, first), export, interface.as_bytes(), known);
        assert_eq!(made, Err(error), "{first} {export} {interface}");
        assert_eq!(world.free(), before);
    }
    assert_eq!(connect(&mut world, IMPORT as u64), Ok(()));
    assert_eq!(connect(&mut world, IMPORT as u64 + 1), Err(Error::Exhausted), "it is taken");
    world.machine.set_alive(CLIENT, true);
    assert_eq!(connect(&mut world, IMPORT as u64), Ok(()), "a successor of it has the same");
    let World { machine, manager } = &mut world;
    let other = manager.connect(machine, (CLIENT, IMPORT as u64), 7, b"Service", SERVICE_OF);
    assert_eq!(other, Err(Error::Busy), "and nothing else there");
    let meaning = |world: &World| world.machine.meaning(CLIENT, IMPORT).map(|one| one.entry);
    let service = meaning(&world);
    assert!(service.is_some());
    // It is the import's for good.
    let World { machine, manager } = &mut world;
    assert_eq!(manager.close(machine, client(CLIENT), IMPORT as u64), Err(Error::NotFound));
    let next = manager.open_export(machine, client(CLIENT), SERVICE, ANY).unwrap();
    assert_ne!(next, IMPORT as u64);
    let World { machine, manager } = &mut world;
    let known = Known { version: VERSION, signature: b"cii " };
    let via = IMPORT as u64;
    let word = manager.reserve(machine, client(CLIENT), via, b"Numbers", known).unwrap();
    world.fill(SERVER, (CLIENT, word), b"Numbers", 3).unwrap();
    world.die(CLIENT);
    assert_eq!((meaning(&world), portals_in(&world.machine, CLIENT).len()), (service, 2));
    world.die(SERVER);
    assert_eq!(meaning(&world), service, "its server starts again");
    // Who is connected is a user.
    let users = |world: &World, server, from| {
        world.manager.user_of(&world.machine, server, InstanceId(from))
    };
    assert_eq!(users(&world, SERVER, 0), Ok(CLIENT));
    assert_eq!(users(&world, SERVER, CLIENT.0 + 1), Ok(SECOND), "as described");
    assert_eq!(users(&world, SERVER, SECOND.0 + 1), Err(Error::NotFound));
    assert_eq!(users(&world, CLIENT, 0), Err(Error::NotFound));
    // The server can take it back, as from whoever opened it.
    let World { machine, manager } = &mut world;
    assert_eq!(manager.revoke(machine, client(SERVER), "service", NO_INSTANCE), Ok(1));
    assert_eq!((meaning(&world), users(&world, SERVER, 0)), (None, Ok(SECOND)));
    world.machine.set_alive(CLIENT, false);
    retire(&mut world, CLIENT);
    assert_eq!(world.free(), before + world_of_domain(&mut world));
}

/// Bytes of what a domain has of its own.
fn world_of_domain(world: &mut World) -> u64 {
    let before = world.free();
    world.manager.make_domain(&world.machine, CLIENT).unwrap();
    let own = before - world.free();
    retire(world, CLIENT);
    own
}

#[test]
fn a_server_that_retires_leaves_imports_that_lead_nowhere() {
    let mut world = world_without_client();
    world.manager.make_domain(&world.machine, CLIENT).unwrap();
    connect(&mut world, IMPORT as u64).unwrap();
    world.machine.set_alive(CLIENT, true);
    let inside = world.machine.enter(CLIENT, IMPORT);
    world.machine.set_alive(SERVER, false);
    while world.manager.instance_died(&world.machine, SERVER).unwrap() != 0 {}
    assert_eq!(world.manager.retire_domain(&world.machine, SERVER, 0), Err(Error::Busy));
    world.machine.leave(inside);
    // One that comes while the last portals go is seen in the last step.
    let mut at = 0;
    let end = loop {
        let next = world.manager.retire_domain(&world.machine, SERVER, at).unwrap();
        if world.machine.meaning(CLIENT, IMPORT).is_none() && next == at {
            break at;
        }
        at = next;
        if at > PORTALS_DESCRIBED as u64 + world.machine.layout().portals.len() as u64 {
            break at;
        }
    };
    assert_eq!(world.manager.retire_domain(&world.machine, SERVER, end), Ok(0));
    assert_eq!(world.machine.meaning(CLIENT, IMPORT), None);
    let World { machine, manager } = &mut world;
    let again = manager.open_export(machine, client(CLIENT), SERVICE, ANY);
    assert_eq!(again, Err(Error::NotFound));
    machine.set_alive(CLIENT, false);
    retire(&mut world, CLIENT);
}

/// Where the layout has the pager of `SERVER`, and how large the client's range is.
const PAGER: usize = 13;
const RANGE: u64 = 64 << 10;
const FAULTS: Known<'static> = Known { version: VERSION, signature: b"" };

/// A world in which the client's number is loadable, and has a range with this pager.
fn world_with_range(float: u16, pager: InstanceId) -> World {
    world_with_range_on(Fake::new(), float, pager)
}

fn world_with_range_on(mut machine: Fake, float: u16, pager: InstanceId) -> World {
    let mut instances = machine.layout.instances.to_vec();
    instances[CLIENT.index() - 1].float = float;
    machine.layout.instances = fake::leak(instances);
    let mut world = world_on(machine);
    world.machine.set_alive(CLIENT, false);
    retire(&mut world, CLIENT);
    let header = world.machine.layout.header;
    let number = u64::from(CLIENT.0);
    let ranges = vec![PagedRange {
        client: CLIENT,
        pager,
        section: NO_SECTION,
        writable: 1,
        address: 0x20_0000,
        size: RANGE,
        entries: 0x1000,
    }];
    world.machine.layout.header = Box::leak(Box::new(Header {
        loadable: Range { start: number, end: number + 1 },
        ranges: Table { offset: 0, count: 1 },
        ..*header
    }));
    world.machine.layout.ranges = fake::leak(ranges);
    world
}

fn upcalls(world: &World) -> [u64; 3] {
    PAGE_FAULTS.map(|cause| world.machine.domain_word(domain_of(CLIENT), upcall_entry(cause)))
}

fn connect_pager(
    world: &mut World,
    export: usize,
    interface: &str,
    known: Known,
) -> Result<(), Error> {
    let World { machine, manager } = world;
    manager.connect(machine, (CLIENT, 0), export, interface.as_bytes(), known)
}

#[test]
fn faults_of_a_range_call_its_pager_until_one_of_the_two_retires() {
    let mut world = world_with_range(FLOAT_OFF, SERVER);
    let free = world.free();
    assert_eq!(connect_pager(&mut world, PAGER, "Pager", FAULTS), Err(Error::BadArgument));
    for round in 0..3 {
        world.manager.make_domain(&world.machine, CLIENT).unwrap();
        let (made, plain) = (world.free(), upcalls(&world));
        let old = Known { version: 8, ..FAULTS };
        let wrong = connect_pager(&mut world, PAGER, "Pager", old);
        assert_eq!(wrong, Err(Error::VersionMismatch));
        let wrong = connect_pager(&mut world, SERVICE, "Service", SERVICE_OF);
        assert_eq!(wrong, Err(Error::BadArgument), "it is no pager");
        assert_eq!((world.free(), upcalls(&world)), (made, plain));
        assert_eq!(connect_pager(&mut world, PAGER, "Pager", FAULTS), Ok(()), "{round}");
        assert_eq!(connect_pager(&mut world, PAGER, "Pager", FAULTS), Err(Error::Busy));
        let [fetch, load, store] = upcalls(&world);
        assert!(fetch == load && load == store && load != plain[0]);
        let literal = |at: i64| world.machine.load(load.wrapping_add_signed(at));
        assert_eq!(literal(LITERAL_ELSE), Some(plain[0]));
        assert_eq!(literal(LITERAL_CONSTANT), Some(0));
        assert_eq!(
            (literal(LITERAL_RANGE), literal(LITERAL_RANGE_SIZE)),
            (Some(0x20_0000), Some(RANGE))
        );
        world.machine.set_alive(CLIENT, true);
        let user = world.manager.user_of(&world.machine, SERVER, CLIENT);
        assert_eq!(user, Ok(CLIENT), "it needs its pager");
        world.machine.set_alive(CLIENT, false);
        retire(&mut world, CLIENT);
        assert_eq!((world.free(), upcalls(&world)), (free, [FATAL; 3]));
    }
    // The pager goes before its client, whose threads may still name the code.
    world.manager.make_domain(&world.machine, CLIENT).unwrap();
    let plain = upcalls(&world);
    connect_pager(&mut world, PAGER, "Pager", FAULTS).unwrap();
    world.machine.set_alive(CLIENT, true);
    let taken = world.free();
    world.machine.set_alive(SERVER, false);
    retire(&mut world, SERVER);
    assert_eq!((upcalls(&world), world.free() >= taken), (plain, true));
    world.machine.set_alive(CLIENT, false);
    retire(&mut world, CLIENT);
    assert!(world.free() >= free);
}

/// Held itself, and as one of those that end with who is held, which has no client before.
#[test]
fn a_range_that_comes_while_its_pager_is_held_waits_until_that_goes_on() {
    for held in [SERVER, OTHER] {
        let machine = if held == OTHER { fellows::machine() } else { Fake::new() };
        let mut world = world_with_range_on(machine, FLOAT_OFF, SERVER);
        let ranges = std::mem::take(&mut world.machine.layout.ranges);
        let queue = |world: &World| {
            let [fetch, ..] = upcalls(world);
            world.machine.load(fetch.wrapping_add_signed(LITERAL_QUEUE)).unwrap()
        };
        world.hold(held).unwrap();
        let World { machine, manager } = &mut world;
        machine.layout.ranges = ranges;
        manager.make_domain(machine, CLIENT).unwrap();
        // Between its life and the next one as well.
        machine.set_alive(SERVER, false);
        connect_pager(&mut world, PAGER, "Pager", FAULTS).unwrap();
        world.machine.set_alive(SERVER, true);
        assert_eq!(queue(&world), stack_queue(HELD_QUEUE));
        world.machine.set_alive(CLIENT, true);
        let World { machine, manager } = &mut world;
        while !manager.release_step(machine, SECOND, held).unwrap() {}
        assert_ne!(queue(&world), stack_queue(HELD_QUEUE));
    }
}

#[test]
fn a_range_has_no_pager_but_the_one_that_the_record_says() {
    let mut world = world_with_range(FLOAT_OFF, OTHER);
    world.manager.make_domain(&world.machine, CLIENT).unwrap();
    let plain = upcalls(&world);
    assert_eq!(connect_pager(&mut world, PAGER, "Pager", FAULTS), Err(Error::BadArgument));
    assert_eq!(upcalls(&world), plain);
    // A fault keeps nothing of the floating-point unit.
    let mut world = world_with_range(FLOAT_START, SERVER);
    let World { machine, manager } = &mut world;
    manager.make_domain(machine, CLIENT).unwrap();
    let made = manager.connect(machine, (CLIENT, 0), PAGER, b"Pager", FAULTS);
    assert_eq!(made, Err(Error::NotSupported));
}
