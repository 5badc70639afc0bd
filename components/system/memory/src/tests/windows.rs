//! What is in a window of a call stays.

use super::*;
use crate::free;

#[test]
fn pages_in_an_open_window_stay() {
    let world = World::new();
    let address = world.manager().allocate(ONE, 2).unwrap();
    let (physical, _) = world.page(ONE, address + PAGE_SIZE).unwrap();
    let slot = window_slot(TWO);
    let manager = world.manager();
    let root = manager.tables.root(world.instances[1].space).unwrap();
    let entry = manager.tables.find(root, slot).unwrap();
    tables::map_over(entry, physical, USER | READ);
    assert_eq!(manager.free(ONE, address, 2), Err(Error::Busy));
    assert_eq!(world.page(ONE, address + PAGE_SIZE).unwrap().0, physical, "mapped as before");
    entry.store(0, Relaxed);
    assert_eq!(manager.free(ONE, address, 2), Ok(()));
}

/// However many activations there are, and whatever is in their windows: who gives pages back has one that counts.
#[test]
fn windows_of_others_are_not_looked_at() {
    let world = World::of(200);
    let manager = world.manager();
    for number in 1..=200 {
        let root = manager.tables.root(world.instances[number as usize - 1].space).unwrap();
        for page in 0..4 {
            let entry = manager
                .tables
                .find(root, window_slot(InstanceId(number)) - page * PAGE_SIZE)
                .unwrap();
            tables::map_over(entry, laid_out(number, 0), USER | READ);
        }
    }
    for instance in [1, 77, 200].map(InstanceId) {
        let address = manager.allocate(instance, 2).unwrap();
        free::LOOKS.with(|looks| looks.set(0));
        assert_eq!(manager.free(instance, address, 2), Ok(()));
        assert_eq!(free::LOOKS.with(Cell::get), 1);
    }
    // An activation that it got at run time counts from then on.
    let address = manager.allocate(ONE, 1).unwrap();
    let (physical, _) = world.page(ONE, address).unwrap();
    let root = manager.tables.root(world.instances[148].space).unwrap();
    tables::map_over(
        manager.tables.find(root, window_slot(InstanceId(149))).unwrap(),
        physical,
        USER | READ,
    );
    world.take_activation(ONE, 148);
    assert_eq!(manager.free(ONE, address, 1), Err(Error::Busy));
}
