//! Instances of the description go for good.

use super::*;
use crate::tests::behind;
use cairn_abi::domain::client_row;

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
    let follows = |one: &mut Instance| (one.run_to_completion, one.leader) = (0, ONE);
    assert_eq!(change(&follows), Err(Error::NotSupported));
    let leads = |one: &mut Instance| (one.leader, one.next_fellow) = (TWO, ONE);
    assert_eq!(change(&leads), Err(Error::NotSupported));
    assert_eq!(change(&|one| one.next_fellow = InstanceId(0)), Ok(()));
}
