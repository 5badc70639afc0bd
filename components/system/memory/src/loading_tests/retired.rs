//! Instances of the description go for good.

use super::*;
use crate::tests::{behind, data};
use cairn_abi::domain::client_row;
use cairn_abi::{DomainId, Space};

#[test]
fn an_instance_of_the_description_goes_too() {
    let world = World::loading(1);
    let manager = world.manager();
    let free = world.free();
    manager.allocate(TWO, 2).unwrap();
    assert_eq!(manager.retire(TWO), Err(Error::Busy), "it lives");
    manager.kill(TWO).unwrap();
    assert_eq!(manager.retire(TWO), Err(Error::Busy), "it has pages");
    steps(|cursor| manager.release(TWO, cursor));
    manager.retire(TWO).unwrap();
    // Its data, what that began with, its stack, and its startup page.
    assert_eq!(world.free(), free + 4);
    assert_eq!(manager.usage_of(TWO), Err(Error::NotFound));
    assert!(!manager.place(TWO).unwrap().is_there());
    assert!(manager.record.segments.iter().all(|one| one.instance() != TWO));
    assert!(
        manager.record.activations.iter().all(|one| one.instance() != TWO && one.client() != TWO)
    );
    let portal = manager.record.portals.get(2).unwrap().read();
    assert_eq!((portal.client, portal.export, portal.code), (TWO, u32::MAX, 0));
    let open: Vec<_> = manager.record.exports.iter().map(|one| one.read().open[0]).collect();
    assert_eq!(open[0], 1 << ONE.0, "it was admitted, and may be no more");
    // The portal manager took its stacks from their clients before.
    world.word(manager.header.clients + client_row(ONE.into())).store(0, Relaxed);
    // Its pages are another's when all others are taken.
    while world.state.frames.take().is_some() {}
    let before = world.free();
    let page = manager.allocate(ONE, 1).unwrap();
    assert_eq!(world.free(), before - 1);
    let (physical, _) = world.page(ONE, page).unwrap();
    assert!((0..512).all(|word| world.word(physical + word * 8).load(Relaxed) == 0), "a secret");
    manager.free(ONE, page, 1).unwrap();
    assert_eq!(world.free(), before);
    assert_eq!(behind(ONE), page);
    assert_eq!(manager.make(ONE, "valve", &Head::read(&head()).unwrap()), Err(Error::Exhausted));
}

#[test]
fn who_ends_the_system_or_has_devices_or_fellows_stays() {
    let world = World::loading(1);
    let manager = world.manager();
    manager.kill(TWO).unwrap();
    let change = |change: &dyn Fn(&mut Instance)| {
        let place = manager.place(TWO).unwrap();
        let mut record = place.read();
        change(&mut record);
        place.write(&record);
        manager.retire(TWO)
    };
    assert_eq!(change(&|one| one.essential = 1), Err(Error::NotAllowed));
    let completes = |one: &mut Instance| (one.essential, one.run_to_completion) = (0, 1);
    assert_eq!(change(&completes), Err(Error::NotAllowed));
    let moves = |one: &mut Instance| (one.run_to_completion, one.other_place) = (0, ONE);
    assert_eq!(change(&moves), Err(Error::NotSupported));
    let leads = |one: &mut Instance| (one.other_place, one.next_fellow) = (InstanceId(0), ONE);
    assert_eq!(change(&leads), Err(Error::Busy));
    assert_eq!(change(&|one| one.next_fellow = InstanceId(0)), Ok(()));
}

#[test]
fn of_those_that_end_together_the_leader_goes_last_and_nothing_of_the_others_is_left_in_its_page_table()
 {
    let world = World::loading_beside(1);
    let manager = world.manager();
    let (free, image) = (world.free(), data(TWO));
    assert!(world.page(ONE, image).is_some(), "they have one page table");
    assert_eq!(manager.retire(TWO), Err(Error::Busy), "it lives");
    for fellow in [ONE, TWO] {
        manager.kill(fellow).unwrap();
        steps(|cursor| manager.release(fellow, cursor));
    }
    assert_eq!(manager.retire(ONE), Err(Error::Busy), "it leads another");
    manager.retire(TWO).unwrap();
    assert_eq!(world.free(), free + 4);
    assert_eq!(manager.record(ONE).unwrap().next_fellow(), InstanceId(0));
    let root = manager.root(ONE).unwrap();
    let leads = |address| manager.tables.find(root, address).is_some();
    assert_eq!((leads(image), leads(data(ONE))), (false, true));
    let place = manager.place(TWO).unwrap();
    assert_eq!((place.space(), place.domain()), (Space::NONE, DomainId(TWO.0)));
    manager.retire(ONE).unwrap();
    assert_eq!(world.free(), free + 8);
}

#[test]
fn no_device_of_a_driver_that_is_gone_is_left_in_its_page_table() {
    let world = World::loading(1);
    let manager = world.manager();
    let root = manager.root(TWO).unwrap();
    let directory = manager.tables.to_region(root, region_of(TWO)).unwrap();
    // A leaf table of devices, behind all that it has of its region.
    let devices = &directory[(DEVICES_OFFSET / LEAF_SPAN) as usize];
    devices.store(directory[0].load(Relaxed), Relaxed);
    manager.kill(TWO).unwrap();
    steps(|cursor| manager.release(TWO, cursor));
    manager.retire(TWO).unwrap();
    assert_eq!(devices.load(Relaxed), 0);
}

#[test]
fn the_status_page_of_a_server_of_processes_is_not_for_who_gets_its_number() {
    // Of others nothing is changed there: it is the kernel domain's half.
    for (float, left) in [(FLOAT_PROCESSES, 0), (FLOAT_OFF, 9)] {
        let world = World::loading(1);
        let manager = world.manager();
        let place = manager.place(TWO).unwrap();
        place.write(&Instance { float, ..place.read() });
        let leads = manager.tables.to_status_page(manager.root(TWO).unwrap()).unwrap();
        leads.store(9, Relaxed);
        manager.kill(TWO).unwrap();
        steps(|cursor| manager.release(TWO, cursor));
        assert_eq!(leads.load(Relaxed), 9, "in its next life it has it");
        manager.retire(TWO).unwrap();
        assert_eq!(leads.load(Relaxed), left);
    }
}
