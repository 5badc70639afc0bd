//! Instances come and go, and others come under their numbers: nothing of the first ones remains.

use crate::manager::Manager;
use crate::tests::*;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::{Error, InstanceId};

/// It dies for good.
fn end(manager: &Manager, instance: InstanceId) {
    manager.kill(instance).unwrap();
    steps(|cursor| manager.release(instance, cursor));
    manager.retire_domain(instance).unwrap();
}

/// Another owner's instance of the number begins, with so many pages beside those of its image.
fn begin(world: &mut World, number: InstanceId, pages: u64) {
    let record = &mut world.instances[number.index() - 1];
    record.memory = record.memory_used + pages * PAGE_SIZE;
    let manager = world.manager();
    manager.add_domain(number).unwrap();
    steps(|cursor| manager.renew(number, cursor, false));
    manager.revive(number).unwrap();
}

#[test]
fn a_number_has_one_instance_at_a_time() {
    let world = World::new();
    let manager = world.manager();
    assert_eq!(manager.add_domain(ONE), Err(Error::Busy), "the layout's");
    assert_eq!(manager.retire_domain(ONE), Err(Error::Busy), "it lives");
    let address = manager.allocate(ONE, 1).unwrap();
    manager.kill(ONE).unwrap();
    assert_eq!(manager.retire_domain(ONE), Err(Error::Busy), "it has a page");
    assert_eq!(world.page(ONE, address), None);
    end(&manager, ONE);
    assert_eq!(manager.retire_domain(ONE), Err(Error::NotFound));
    assert_eq!(manager.add_domain(ONE), Ok(()));
    assert_eq!(manager.add_domain(ONE), Err(Error::Busy));
    for nobody in [0, 3, 257, u16::MAX].map(InstanceId) {
        assert_eq!(manager.retire_domain(nobody), Err(Error::NotFound));
    }
}

/// A thread that takes over from the layout is stopped, others come first and use what there is, and it goes on.
#[test]
fn who_takes_over_late_changes_nothing() {
    let world = World::new();
    let manager = world.manager();
    end(&manager, TWO);
    let first = manager.allocate(ONE, 4).unwrap();
    manager.make_section(ONE, 2).unwrap();
    let state = || (world.free(), world.state.tables.available(), world.used(ONE));
    let before = state();
    manager.take_over();
    assert_eq!(state(), before);
    assert_eq!(manager.usage_of(TWO), Err(Error::NotFound), "it has retired");
    let physical = |address| world.page(ONE, address).unwrap().0;
    let second = manager.allocate(ONE, 4).unwrap();
    let pages = |first: u64| (0..4).map(move |page| physical(first + page * PAGE_SIZE));
    assert!(pages(first).all(|old| pages(second).all(|new| new != old)), "handed out twice");
}

#[test]
fn nothing_of_a_retired_instance_remains() {
    let mut world = World::new();
    let (free, tables) = (world.free(), world.state.tables.available());
    let manager = world.manager();
    let pages = manager.allocate(TWO, 3).unwrap();
    let own = manager.make_section(TWO, 2).unwrap();
    let offered: Vec<u64> = (0..3).map(|_| manager.make_section(ONE, 1).unwrap()).collect();
    for section in &offered[..2] {
        manager.share(ONE, *section, TWO, true).unwrap();
    }
    manager.accept(TWO, offered[0]).unwrap();
    manager.share(TWO, own, ONE, false).unwrap();
    manager.kill(TWO).unwrap();
    steps(|cursor| manager.release(TWO, cursor));
    // Offered to the dead.
    manager.share(ONE, offered[2], TWO, true).unwrap();
    manager.retire_domain(TWO).unwrap();

    // Its number leads nowhere, and is nobody's.
    assert_eq!(manager.usage_of(TWO), Err(Error::NotFound));
    assert_eq!(manager.allocate(TWO, 1), Err(Error::NotFound));
    assert_eq!(manager.free(TWO, pages, 3), Err(Error::NotFound));
    assert_eq!(manager.make_section(TWO, 1), Err(Error::NotFound));
    assert_eq!(manager.share(ONE, offered[1], TWO, true), Err(Error::NotFound));
    assert_eq!(manager.revive(TWO), Err(Error::NotFound));
    assert_eq!(world.page(TWO, pages), None);

    // Another owner, of another size.
    begin(&mut world, TWO, 2);
    let manager = world.manager();
    assert_eq!(world.used(TWO), 3, "what its image takes");
    for section in &offered {
        assert_eq!(manager.accept(TWO, *section), Err(Error::NotAllowed));
        assert_eq!(world.page(TWO, *section), None);
    }
    assert_eq!(manager.accept(ONE, own), Err(Error::NotFound));
    assert_eq!(manager.free(TWO, pages, 1), Err(Error::NotFound));
    assert_eq!(manager.allocate(TWO, 3), Err(Error::Exhausted), "its predecessor's quota");
    let address = manager.allocate(TWO, 2).unwrap();
    let (physical, _) = world.page(TWO, address).unwrap();
    assert!((0..512).all(|word| {
        world.word(physical + word * 8).load(std::sync::atomic::Ordering::Relaxed) == 0
    }));
    end(&manager, TWO);
    offered.iter().for_each(|section| manager.drop_section(ONE, *section).unwrap());
    assert_eq!((world.free(), world.state.tables.available()), (free, tables));
}

#[test]
fn many_instances_come_and_go_under_all_numbers() {
    let count = 250;
    let mut world = World::of(count);
    let free = world.free();
    for round in 0..3u64 {
        for number in (2..=count).map(InstanceId) {
            end(&world.manager(), number);
            begin(&mut world, number, 2 + round);
            let manager = world.manager();
            assert_eq!(manager.allocate(number, 3 + round), Err(Error::Exhausted));
            manager.allocate(number, 2 + round).unwrap();
        }
    }
    for number in (2..=count).map(InstanceId) {
        end(&world.manager(), number);
    }
    assert_eq!(world.free(), free);
}
