//! Instances that are gone for good, and what their successors find.

use super::*;
use crate::blocks::NO_INSTANCE;
use crate::machine::Published;
use cairn_abi::record::Instance;

#[test]
fn the_number_of_an_instance_that_is_gone_can_be_anothers() {
    let mut world = world();
    let record = *world.manager.instances().get(CLIENT).unwrap();
    let again: &'static _ = Box::leak(Box::new(record));
    let free = world.free();
    let mut first = None;
    for round in 0..60 {
        let World { machine, manager } = &mut world;
        assert_eq!(manager.retire_domain(machine, CLIENT, 0), Err(Error::Busy), "it lives");
        assert_eq!(manager.add_domain(machine, again, true), Err(Error::BadArgument));
        let index = manager.open_export(machine, client(CLIENT), SERVICE, ANY).unwrap();
        // Nothing of the one before is in its table, nor counted for it.
        assert_eq!(index, *first.get_or_insert(index), "{round}");
        let callers = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
        world.fill(SERVER, (CLIENT, callers), b"Numbers", 7).unwrap();
        let inside = world.machine.enter(CLIENT, index as usize);
        world.machine.set_alive(CLIENT, false);
        let World { machine, manager } = &mut world;
        assert_eq!(manager.retire_domain(machine, CLIENT, 0), Err(Error::Busy), "it has blocks");
        while manager.instance_died(machine, CLIENT).unwrap() != 0 {}
        assert_eq!(manager.retire_domain(machine, CLIENT, 0), Err(Error::Busy), "one is inside");
        machine.leave(inside);
        retire(manager, machine, CLIENT);
        assert_eq!(manager.retire_domain(machine, CLIENT, 0), Err(Error::BadArgument));
        machine.set_alive(CLIENT, true);
        assert!(manager.open_export(machine, client(CLIENT), SERVICE, ANY).is_err());
        lay_out(machine, CLIENT);
        assert_eq!(manager.add_domain(machine, again, true), Ok(()));
        assert_eq!(world.free(), free);
    }
}

#[test]
fn what_a_server_that_is_gone_served_leads_nowhere_for_good() {
    let mut world = world();
    let record: &'static _ = Box::leak(Box::new(*world.manager.instances().get(SERVER).unwrap()));
    let World { machine, manager } = &mut world;
    let open = |manager: &mut Manager, machine: &Fake| {
        manager.open_export(machine, client(CLIENT), SERVICE, ANY)
    };
    let held: Vec<u64> = (0..20).map(|_| open(manager, machine).unwrap()).collect();
    machine.set_alive(SERVER, false);
    while manager.instance_died(machine, SERVER).unwrap() != 0 {}
    // It could live again: what is open stays.
    assert!(machine.meaning(CLIENT, held[0] as usize).is_some());
    assert!(retire(manager, machine, SERVER) > 1, "all at once");
    machine.set_alive(SERVER, true);
    assert_eq!(open(manager, machine), Err(Error::NotFound));
    manager.add_domain(machine, record, false).unwrap();
    assert!(held.iter().all(|index| machine.meaning(CLIENT, *index as usize).is_none()));
    // What the description says of the first one it does not say of this one.
    assert_eq!(open(manager, machine), Err(Error::NotFound));
    let ended = manager.end_object(machine, client(SERVER), b"Numbers", 7);
    assert_eq!(ended, Err(Error::NotFound));
    let revoked = manager.revoke(machine, client(SERVER), "service", NO_INSTANCE);
    assert_eq!(revoked, Err(Error::NotFound));
    for index in held {
        manager.close(machine, client(CLIENT), index).unwrap();
    }
}

/// Has an instance retire that is dead; in how many steps.
fn retire(manager: &mut Manager, machine: &Fake, instance: InstanceId) -> usize {
    let (mut steps, mut at) = (1, manager.retire_domain(machine, instance, 0).unwrap());
    while at != 0 {
        at = manager.retire_domain(machine, instance, at).unwrap();
        steps += 1;
    }
    steps
}

/// The table of an instance, as the layout made it.
fn lay_out(machine: &Fake, instance: InstanceId) {
    for portal in machine.layout().portals.iter().filter(|portal| portal.client == instance) {
        let (domain, index) = (domain_of(instance), portal.index as usize);
        machine.set_entry(domain, index, portal.code, Published::by_layout());
    }
}

fn portals_in(machine: &Fake, instance: InstanceId) -> Vec<usize> {
    (0..PORTALS_DESCRIBED).filter(|index| machine.meaning(instance, *index).is_some()).collect()
}

#[test]
fn no_portal_of_the_layout_leads_from_or_to_who_comes_under_a_number() {
    let World { machine, mut manager } = world();
    let (first, to_server) = (FIRST as usize, import_of(SERVER) as usize);
    let everything = [first, first + 1, first + 2];
    assert_eq!(portals_in(&machine, CLIENT), everything);
    // More than are ended in a step.
    for index in 100..120 {
        let code = machine.layout().portals[3].code;
        machine.set_entry(domain_of(CLIENT), index, code, Published::by_layout());
    }
    let mut retire_and_add = |instance: InstanceId| {
        let record = Box::leak(Box::new(*manager.instances().get(instance).unwrap()));
        machine.set_alive(instance, false);
        while manager.instance_died(&machine, instance).unwrap() != 0 {}
        // A step looks at few, however many connections there are.
        let before = machine.looked.get();
        let steps = retire(&mut manager, &machine, instance);
        let looked = machine.looked.get() - before;
        assert!(looked <= steps * 64, "{looked} in {steps} steps");
        machine.set_alive(instance, true);
        manager.add_domain(&machine, record, false).unwrap();
    };
    retire_and_add(CLIENT);
    assert_eq!(portals_in(&machine, CLIENT), []);
    assert_eq!(portals_in(&machine, SECOND), everything, "another's");
    // What its successor has is what whoever adds it puts there.
    let own = machine.layout().portals[7].code;
    machine.set_entry(domain_of(CLIENT), to_server, own, Published::by_layout());
    retire_and_add(SERVER);
    assert_eq!(portals_in(&machine, SECOND), [first, first + 2]);
    assert_eq!(portals_in(&machine, SERVER), []);
    assert_eq!(machine.entry(domain_of(CLIENT), to_server), own, "not the layout's");
}

#[test]
fn what_the_system_cannot_do_without_stays() {
    let World { machine, mut manager } = world();
    machine.set_alive(ESSENTIAL, false);
    while manager.instance_died(&machine, ESSENTIAL).unwrap() != 0 {}
    let before = portals_in(&machine, ESSENTIAL);
    assert_eq!(manager.retire_domain(&machine, ESSENTIAL, 0), Err(Error::NotAllowed));
    assert_eq!(portals_in(&machine, ESSENTIAL), before);
    assert_eq!(manager.instances().get(ESSENTIAL).map(|record| record.number), Ok(ESSENTIAL));
}

#[test]
fn two_instances_of_a_domain_have_each_their_own_of_its_table() {
    let mut world = world();
    let World { machine, manager } = &mut world;
    let record = *manager.instances().get(SECOND).unwrap();
    let open = |manager: &mut Manager, one: Client| {
        manager.open_export(machine, one, SERVICE, ANY).unwrap() as usize
    };
    let shared = domain_of(CLIENT);
    let (first, second) = (client(CLIENT), Client { domain: shared, ..client(SECOND) });
    // The one that had a domain of its own comes into the other's.
    machine.set_alive(SECOND, false);
    retire(manager, machine, SECOND);
    let before = open(manager, first);
    let record = Box::leak(Box::new(Instance { domain: shared, ..record }));
    manager.add_domain(machine, record, true).unwrap();
    let opened = [open(manager, second), open(manager, first)];
    assert!(opened[0] > before && opened[1] > opened[0], "each index is one's");
    // What it may call is what it opened, not what its neighbour did.
    let reserve = |manager: &mut Manager, one: Client, via: usize| {
        manager.reserve(machine, one, via as u64, b"Numbers", ANY).map(drop)
    };
    assert_eq!(reserve(manager, second, opened[0]), Ok(()));
    for via in [before, opened[1], import_of(SERVER) as usize] {
        assert_eq!(reserve(manager, first, via), Ok(()));
        assert_eq!(reserve(manager, second, via), Err(Error::NoPortal));
    }
    assert!(manager.close(machine, second, before as u64).is_err());
    // They die together; one is gone for good.
    machine.set_alive(CLIENT, false);
    while manager.instance_died(machine, SECOND).unwrap() != 0 {}
    retire(manager, machine, SECOND);
    machine.set_alive(CLIENT, true);
    let imports = FIRST as usize..FIRST as usize + IMPORTS;
    let blocks = [before, opened[1]].into_iter().flat_map(|first| first..first + SERVICE_METHODS);
    assert_eq!(portals_in(machine, CLIENT), imports.chain(blocks).collect::<Vec<_>>());
    assert_eq!(open(manager, first), opened[0], "free again, and no other is");
    machine.set_alive(CLIENT, false);
    while manager.instance_died(machine, CLIENT).unwrap() != 0 {}
    retire(manager, machine, CLIENT);
    assert_eq!(portals_in(machine, CLIENT), []);
}
