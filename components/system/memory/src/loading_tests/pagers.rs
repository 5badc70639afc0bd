//! Content that takes the place of a pager's, while clients have its pages.

use super::paged::{entry, paged, with_pager};
use super::successor::{begin, successor};
use super::*;
use cairn_abi::page_table::PTE_LOST;

fn pager() -> Vec<u8> {
    head_with(|writer| {
        small_parts(writer);
        writer.exports[0].interface = name("Successor");
    })
}

#[test]
fn what_it_allocated_stays_and_what_its_content_had_goes() {
    let world = with_pager();
    let manager = world.manager();
    let number = load_small(&world, ONE, "pager", &pager());
    let head = paged("pager.pages");
    let client = load_small(&world, ONE, "client", &head);
    let allocated = manager.allocate(number, 1).unwrap();
    let first = entry(&world, client, &head);
    let provide = |address| {
        let (physical, _) = world.page(number, address).unwrap();
        tables::map_over(first, physical, USER | READ | WRITE);
        physical
    };
    let start = manager.record(number).unwrap().start_address();
    let content = start + placement(number, &manager).image().start;
    for address in [allocated, content] {
        let page = provide(address);
        let (next, _) = successor(&world, number, &pager());
        for is_last in [false, true] {
            manager.kill(number).unwrap();
            steps(|cursor| manager.release_for_successor(number, cursor));
            manager.exchange(number, next).unwrap();
            begin(&world, number);
            assert_eq!(tables::mapped(first), Some(page), "{is_last}");
            assert_eq!(manager.kept(number, 0), Ok((allocated, 1)));
            if !is_last {
                // It comes back.
                manager.kill(number).unwrap();
                steps(|cursor| manager.release_for_successor(number, cursor));
                manager.exchange(number, next).unwrap();
                begin(&world, number);
            }
        }
        manager.retire(next).unwrap();
        let is_kept = address == allocated;
        let word = first.load(Relaxed);
        assert!(if is_kept {
            tables::mapped(first) == Some(page)
        } else {
            word == PTE_LOST as i64
        });
    }
    unload(&world, client);
    unload(&world, number);
}

#[test]
fn who_cannot_take_its_place_is_refused() {
    let world = with_pager();
    let manager = world.manager();
    let knows_nothing = head_with(small_parts);
    let number = load_small(&world, ONE, "pager", &knows_nothing);
    let head = paged("pager.pages");
    let client = load_small(&world, ONE, "client", &head);
    let make = |of, head: &[u8]| {
        manager.make_successor(ONE, of, &Head::read(head).unwrap(), None).map(drop)
    };
    assert_eq!(
        make(number, &knows_nothing),
        Err(SuccessorError::PagerWithoutState),
        "it hands nothing over"
    );
    unload(&world, client);
    unload(&world, number);
    let number = load_small(&world, ONE, "pager", &pager());
    let client = load_small(&world, ONE, "client", &head);
    let large = head_with(|writer| {
        small_parts(writer);
        writer.exports[0].interface = name("Successor");
        writer.numbers.heap = 400 * PAGE_SIZE;
    });
    assert_eq!(make(number, &large), Err(SuccessorError::Region), "its pages are behind");
    // It has taken its quota.
    while manager.allocate(number, 1).is_ok() {}
    let more = head_with(|writer| {
        small_parts(writer);
        writer.exports[0].interface = name("Successor");
        writer.numbers.stack = 3 * PAGE_SIZE;
    });
    let read = Head::read(&more).unwrap();
    let made = manager.make_successor(ONE, number, &read, None);
    let finished = made.and_then(|(next, _)| Ok(manager.finish(next)?));
    assert!(finished.is_err(), "{finished:?}");
    unload(&world, client);
}
