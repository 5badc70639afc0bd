//! Ranges with a pager: what the portal of a fault maps is played by the test.

use crate::paging::Served;
use crate::tables::{self, READ, USER, WRITE};
use crate::tests::{ONE, TWO, World, data, steps};
use cairn_abi::address::{PAGE_SIZE, PAGE_TABLES};
use cairn_abi::page_table::PTE_LOST;
use cairn_abi::record::{PagedRange, Table};
use cairn_abi::{Error, InstanceId};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use zerocopy::IntoBytes;

/// Pages of the range, more than one step of a death looks at, and where its entries lie among those of page tables.
const PAGES: u64 = 40;
const ENTRIES: usize = 2 * 512 + 256;

/// Instance one misses pages, and two provides them; another range is the other way round.
fn world() -> World {
    let mut world = World::new();
    let range = |client, pager, entries: usize| PagedRange {
        client,
        pager,
        section: 7,
        writable: 1,
        address: 0x3a_0000_0000,
        size: PAGES * PAGE_SIZE,
        entries: PAGE_TABLES + entries as u64 * 8,
    };
    let ranges = [range(TWO, ONE, ENTRIES + 4 * 512), range(ONE, TWO, ENTRIES)];
    // Behind all else in the record.
    let bytes = ranges.as_bytes();
    let offset = world.header.size.next_multiple_of(8);
    world.header.ranges = Table { offset: offset as u32, count: ranges.len() as u32 };
    world.header.size = offset + bytes.len() as u64;
    world.memory.extend((0..bytes.len() / 8).map(|_| AtomicI64::new(0)));
    for (place, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let at = world.header.record + offset + place as u64 * 8;
        world.word(at).store(i64::from_le_bytes(*word), Relaxed);
    }
    world
}

fn entry(world: &World, page: u64) -> &AtomicI64 {
    &world.tables[ENTRIES + page as usize]
}

/// A page of the pager's is mapped in the client, as its reply says.
fn provide(world: &World, address: u64, page: u64) -> u64 {
    let (physical, _) = world.page(TWO, address).unwrap();
    tables::map_over(entry(world, page), physical, USER | READ | WRITE);
    physical
}

#[test]
fn a_pager_knows_its_ranges() {
    let world = world();
    let served = |pager, at| world.manager().served(pager, at);
    let one = Served { number: 1, pages: PAGES, section: 7 };
    assert_eq!(served(TWO, 0), Ok(one));
    assert_eq!(served(ONE, 0).unwrap().number, 0);
    for (pager, at) in [(TWO, 1), (TWO, u64::MAX), (InstanceId(3), 0)] {
        assert_eq!(served(pager, at), Err(Error::NotFound));
    }
    // It may not have died after all.
    let client = || world.manager().client(TWO, 1);
    assert_eq!(client(), Ok((ONE, true, 0, PAGES)));
    world.manager().kill(ONE).unwrap();
    assert_eq!(client(), Ok((ONE, true, 0, PAGES)));
    steps(|at| world.manager().release(ONE, at));
    assert_eq!(client(), Ok((ONE, false, 1, PAGES)));
    world.manager().revive(ONE).unwrap();
    assert_eq!(client(), Ok((ONE, true, 1, PAGES)));
    for (pager, number) in [(ONE, 1), (TWO, 0), (TWO, u64::MAX)] {
        assert_eq!(world.manager().client(pager, number), Err(Error::NotFound));
    }
}

#[test]
fn what_a_client_has_cannot_be_given_back() {
    let world = world();
    let pages = world.manager().allocate(TWO, 3).unwrap();
    assert_eq!(world.manager().has_page(TWO, 1, 39), Ok(false));
    provide(&world, pages + PAGE_SIZE, 39);
    for (pager, number, page, expected) in [
        (TWO, 1, 39, Ok(true)),
        (TWO, 1, 38, Ok(false)),
        (TWO, 1, PAGES, Err(Error::BadArgument)),
        (TWO, 1, u64::MAX, Err(Error::BadArgument)),
        (ONE, 1, 39, Err(Error::NotFound)),
        (TWO, 0, 39, Err(Error::NotFound)),
    ] {
        assert_eq!(world.manager().has_page(pager, number, page), expected, "{number} {page}");
    }
    let free = world.free();
    let give_back = || world.manager().free(TWO, pages, 3);
    assert_eq!(give_back(), Err(Error::Busy));
    assert_eq!((world.free(), world.used(TWO)), (free, 3 + 3));
    assert!(world.page(TWO, pages + PAGE_SIZE).is_some(), "it has it still");
    // Others can take nothing from the client, nor outside of the range.
    for (pager, number, first, pages) in [
        (ONE, 1, 39, 1),
        (TWO, 0, 39, 1),
        (TWO, 2, 39, 1),
        (TWO, u64::MAX, 39, 1),
        (TWO, 1, 39, 2),
        (TWO, 1, PAGES, 1),
        (TWO, 1, u64::MAX, 1),
        (TWO, 1, 0, u64::MAX),
        (TWO, 1, 2, u64::MAX),
    ] {
        assert!(world.manager().unmap_range(pager, number, first, pages).is_err());
    }
    assert_eq!(give_back(), Err(Error::Busy));
    world.manager().unmap_range(TWO, 1, 0, PAGES).unwrap();
    assert_eq!(entry(&world, 39).load(Relaxed), 0);
    assert_eq!(give_back(), Ok(()));
    assert_eq!((world.free(), world.used(TWO)), (free + 3, 3));
}

/// The client's entries are looked at behind a step's, too, and its pages stay the pager's.
#[test]
fn a_client_that_dies_leaves_all_pages_to_its_pager() {
    let world = world();
    let pages = world.manager().allocate(TWO, 2).unwrap();
    provide(&world, pages, 0);
    provide(&world, pages + PAGE_SIZE, PAGES - 1);
    entry(&world, 7).store(PTE_LOST as i64, Relaxed);
    world.manager().kill(ONE).unwrap();
    steps(|at| world.manager().release(ONE, at));
    for page in 0..PAGES {
        assert_eq!(entry(&world, page).load(Relaxed), 0, "{page}");
    }
    assert_eq!(world.used(TWO), 3 + 2);
    assert_eq!(world.manager().free(TWO, pages, 2), Ok(()));
}

#[test]
fn what_a_pager_provided_is_lost_with_it() {
    let world = world();
    let pages = world.manager().allocate(TWO, 2).unwrap();
    provide(&world, pages, 3);
    provide(&world, data(TWO), PAGES - 1);
    let free = world.free();
    world.manager().kill(TWO).unwrap();
    steps(|at| world.manager().release(TWO, at));
    for page in 0..PAGES {
        let lost = if [3, PAGES - 1].contains(&page) { PTE_LOST as i64 } else { 0 };
        assert_eq!(entry(&world, page).load(Relaxed), lost, "{page}");
    }
    assert_eq!(world.free(), free + 2);
    // Neither a page that is lost nor its next life makes it whole.
    steps(|at| world.manager().renew(TWO, at, false));
    world.manager().revive(TWO).unwrap();
    world.manager().unmap_range(TWO, 1, 0, PAGES).unwrap();
    assert_eq!(entry(&world, 3).load(Relaxed), PTE_LOST as i64);
    world.manager().kill(ONE).unwrap();
    steps(|at| world.manager().release(ONE, at));
    assert_eq!(entry(&world, 3).load(Relaxed), 0, "the client's next life begins with nothing");
}

#[test]
fn a_pager_retires_behind_its_clients() {
    let world = world();
    for instance in [ONE, TWO] {
        world.manager().kill(instance).unwrap();
        steps(|at| world.manager().release(instance, at));
    }
    // Each provides the other with pages here.
    assert_eq!(world.manager().retire_domain(TWO), Err(Error::Busy));
    assert_eq!(world.manager().retire_domain(ONE), Err(Error::Busy));
    world.manager().end_ranges(TWO);
    assert_eq!(world.manager().retire_domain(ONE), Ok(()));
    // Its page tables are another one's.
    let word = entry(&world, 3);
    word.store(tables::OWN as i64 | 1, Relaxed);
    assert!(world.manager().unmap_range(TWO, 1, 3, 1).is_err());
    assert_ne!(word.load(Relaxed), 0);
    assert_eq!(world.manager().client(TWO, 1), Ok((InstanceId(0), false, 0, 0)));
    word.store(0, Relaxed);
    assert_eq!(world.manager().retire_domain(TWO), Ok(()));
}

/// What the life before allocated, and clients have, is the next one's.
#[test]
fn what_a_pager_leaves_to_its_successor_its_clients_have() {
    let world = world();
    let manager = world.manager();
    assert_eq!(manager.kept(TWO, 0), Err(Error::NotFound));
    let pages = manager.allocate(TWO, 3).unwrap();
    let physical = provide(&world, pages + PAGE_SIZE, 3);
    let (free, used) = (world.free(), world.used(TWO));
    for _ in 0..2 {
        manager.kill(TWO).unwrap();
        // Whatever later steps say, it is as the first one says.
        let next = manager.release_for_successor(TWO, 0).unwrap();
        assert_ne!(next, 0);
        steps(|at| manager.release(TWO, if at == 0 { next } else { at }));
        assert_eq!((world.free(), world.used(TWO)), (free, used));
        assert_eq!(tables::mapped(entry(&world, 3)), Some(physical));
        assert_eq!(manager.kept(TWO, 0), Ok((pages, 3)));
        assert_eq!(manager.kept(TWO, pages + 1), Ok((pages + PAGE_SIZE, 2)));
        assert_eq!(manager.kept(TWO, pages + 3 * PAGE_SIZE), Err(Error::NotFound));
        steps(|at| manager.renew(TWO, at, false));
        manager.revive(TWO).unwrap();
        assert_eq!(manager.client(TWO, 1).map(|client| client.1), Ok(true));
        assert_eq!(manager.free(TWO, pages, 3), Err(Error::Busy), "its client has one");
    }
    // Who provides nobody leaves nothing.
    manager.end_ranges(TWO);
    let own = manager.allocate(ONE, 1).unwrap();
    manager
        .record
        .ranges
        .get(0)
        .unwrap()
        .set(std::mem::offset_of!(PagedRange, pager), InstanceId(0));
    manager.kill(ONE).unwrap();
    steps(|at| manager.release_for_successor(ONE, at));
    assert_eq!((world.page(ONE, own), manager.kept(ONE, 0)), (None, Err(Error::NotFound)));
    // Another death is as ever.
    manager.kill(TWO).unwrap();
    steps(|at| manager.release(TWO, at));
    assert_eq!(entry(&world, 3).load(Relaxed), 0, "its client has died");
    assert_eq!((world.free(), manager.kept(TWO, 0)), (free + 3, Err(Error::NotFound)));
}

#[test]
fn what_was_left_goes_with_a_pager_that_does_not_live_again() {
    let world = world();
    let manager = world.manager();
    let pages = manager.allocate(TWO, 2).unwrap();
    provide(&world, pages, 3);
    manager.kill(TWO).unwrap();
    steps(|at| manager.release_for_successor(TWO, at));
    assert_eq!(manager.retire_domain(TWO), Err(Error::Busy), "it has a client");
    // Not any more, but for what it has mapped.
    let range = manager.record.ranges.get(1).unwrap();
    range.set(std::mem::offset_of!(PagedRange, client), InstanceId(7));
    manager.end_ranges(TWO);
    assert_eq!(manager.retire_domain(TWO), Ok(()));
    assert_eq!(entry(&world, 3).load(Relaxed), PTE_LOST as i64);
}

#[test]
fn a_page_that_is_anothers_soon_is_lost_to_all() {
    let world = world();
    let page = provide(&world, data(TWO), 3);
    provide(&world, data(TWO), 4);
    let pages = world.manager().allocate(TWO, 1).unwrap();
    let other = provide(&world, pages, 5);
    world.manager().lose_page(ONE, page);
    assert_eq!(tables::mapped(entry(&world, 3)), Some(page), "it is no page of that pager's");
    world.manager().lose_page(TWO, page);
    let lost = |at| entry(&world, at).load(Relaxed) == PTE_LOST as i64;
    assert_eq!((lost(3), lost(4), tables::mapped(entry(&world, 5))), (true, true, Some(other)));
}
