//! Content of one of several instances in a domain is exchanged: its fellows' calls, which need no portal, enter it.

use super::successor::{begin, end, loaded, successor};
use super::*;
use cairn_abi::startup::Startup;
use std::mem::offset_of;

/// Index of a portal of the first instance, of the record's first connection.
const INDEX: u64 = 20;

/// A whole instance in the domain of the first, whose portals are behind three others, and which that one calls without a portal; where it finds the method.
fn beside(world: &World) -> (InstanceId, u64) {
    let manager = world.manager();
    let number = loaded(world);
    let place = manager.record(number).unwrap();
    place.set(offset_of!(Instance, leader), ONE);
    manager.record(ONE).unwrap().set(offset_of!(Instance, next_fellow), number);
    let startup = manager.startup(place).unwrap();
    startup[offset_of!(Startup, instance) / 8].store(3 << 32 | i64::from(number.0), Relaxed);
    let mut exports = (0..).zip(manager.record.exports.iter());
    let (export, _) = exports.find(|(_, one)| one.instance() == number).unwrap();
    let portal = manager.record.portals.get(0).unwrap();
    assert_eq!((portal.client(), u64::from(portal.index())), (ONE, INDEX));
    portal.set(offset_of!(Portal, export), export as u32);
    let page = manager.take_frame().unwrap();
    let entry = manager.tables.find(manager.root(ONE).unwrap(), region_of(ONE) + INSIDE_OFFSET);
    tables::map_over(entry.unwrap(), page, USER | READ);
    (number, page + INDEX * 8)
}

fn head_behind(before: u16, stack: u64) -> Vec<u8> {
    head_with(|writer| {
        writer.methods[0].entry = 64;
        (writer.numbers.portals_before, writer.numbers.call_stack) = (before, stack);
    })
}

#[test]
fn calls_inside_the_domain_enter_what_is_there() {
    let world = World::loading_in(3, 60);
    let manager = world.manager();
    let (number, word) = beside(&world);
    let image =
        manager.record(number).unwrap().start_address() + placement(number, &manager).image().start;
    world.word(word).store((image + 16) as i64, Relaxed);
    let (next, _) = successor(&world, number, &head_behind(3, PAGE_SIZE));
    for entry in [64, 16, 64] {
        [ONE, number].into_iter().for_each(|one| end(&world, one));
        manager.exchange(number, next).unwrap();
        assert_eq!(world.word(word).load(Relaxed), (image + entry) as i64);
        [number, ONE].into_iter().for_each(|one| begin(&world, one));
    }
    // One that is called by a portal stays without.
    world.word(word).store(0, Relaxed);
    [ONE, number].into_iter().for_each(|one| end(&world, one));
    manager.exchange(number, next).unwrap();
    assert_eq!(world.word(word).load(Relaxed), 0);
}

#[test]
fn who_takes_more_of_its_callers_stacks_or_calls_by_other_portals_is_no_successor() {
    let world = World::loading_in(3, 60);
    let manager = world.manager();
    let (number, _) = beside(&world);
    let made = |head: &[u8], in_place| {
        let head = Head::read(head).unwrap();
        manager.make_successor(ONE, number, &head, in_place).map(drop)
    };
    assert_eq!(made(&head_behind(0, PAGE_SIZE), None), Err(SuccessorError::Portals));
    assert_eq!(made(&head_behind(3, 2 * PAGE_SIZE), None), Err(SuccessorError::Stack));
    assert_eq!(made(&head_behind(3, PAGE_SIZE), Some(ONE)), Err(SuccessorError::NotAlone));
    assert_eq!(made(&head_behind(3, PAGE_SIZE), None), Ok(()));
    // Nor does it come in a domain of its own.
    let head = head_behind(3, PAGE_SIZE);
    let alone = manager.make(ONE, "alone", &Head::read(&head).unwrap());
    assert_eq!(alone.map(drop), Err(Error::BadArgument));
}
