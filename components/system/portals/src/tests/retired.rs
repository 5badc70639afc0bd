//! Instances that are gone for good, and what their successors find.

use super::*;

#[test]
fn the_number_of_an_instance_that_is_gone_can_be_anothers() {
    let mut world = world();
    let record = *world.manager.instances().get(CLIENT).unwrap();
    let again: &'static _ = Box::leak(Box::new(record));
    let free = world.free();
    let mut first = None;
    for round in 0..60 {
        let World { machine, manager } = &mut world;
        assert_eq!(manager.retire_domain(machine, CLIENT), Err(Error::Busy), "it lives");
        assert_eq!(manager.add_domain(machine, again, true), Err(Error::BadArgument));
        let index = manager.open_export(machine, client(CLIENT), SERVICE, ANY).unwrap();
        // Nothing of the one before is in its table, nor counted for it.
        assert_eq!(index, *first.get_or_insert(index), "{round}");
        let callers = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
        world.fill(SERVER, (CLIENT, callers), b"Numbers", 7).unwrap();
        let inside = world.machine.enter(CLIENT, index as usize);
        world.machine.set_alive(CLIENT, false);
        let World { machine, manager } = &mut world;
        assert_eq!(manager.retire_domain(machine, CLIENT), Err(Error::Busy), "it has blocks");
        while manager.instance_died(machine, CLIENT).unwrap() != 0 {}
        assert_eq!(manager.retire_domain(machine, CLIENT), Err(Error::Busy), "one is inside");
        machine.leave(inside);
        assert_eq!(manager.retire_domain(machine, CLIENT), Ok(0));
        assert_eq!(manager.retire_domain(machine, CLIENT), Err(Error::BadArgument));
        machine.set_alive(CLIENT, true);
        assert!(manager.open_export(machine, client(CLIENT), SERVICE, ANY).is_err());
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
    let mut steps = 0;
    while manager.retire_domain(machine, SERVER).unwrap() != 0 {
        steps += 1;
    }
    assert!(steps > 1, "all at once");
    machine.set_alive(SERVER, true);
    assert_eq!(open(manager, machine), Err(Error::BadArgument));
    manager.add_domain(machine, record, false).unwrap();
    assert!(held.iter().all(|index| machine.meaning(CLIENT, *index as usize).is_none()));
    // The stacks that the first one had are not this one's: the layout gave them.
    assert_eq!(open(manager, machine), Err(Error::Exhausted));
    for index in held {
        manager.close(machine, client(CLIENT), index).unwrap();
    }
}
