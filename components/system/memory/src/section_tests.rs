//! Sections between two instances, either of which may be hostile.

use crate::sections::COUNT;
use crate::tables::{READ, USER, WRITE};
use crate::tests::{FREE_PAGES, ONE, QUOTA, TWO, World, steps};
use cairn_abi::address::*;
use cairn_abi::memory::SECTIONS_EACH;
use cairn_abi::{Error, InstanceId};
use std::collections::BTreeSet;

/// Pages that an instance of the test's machine has from the layout.
const LAID_OUT: u64 = 3;

fn die(world: &World, instance: InstanceId) {
    let manager = world.manager();
    manager.kill(instance).unwrap();
    steps(|cursor| manager.release(instance, cursor));
    steps(|cursor| manager.renew(instance, cursor, false));
    manager.revive(instance).unwrap();
}

/// The second instance is in the domain of the first.
fn fellows() -> World {
    let mut world = World::new();
    world.instances[0].next_fellow = TWO;
    (world.instances[1].space, world.instances[1].leader) = (world.instances[0].space, ONE);
    world
}

#[test]
fn a_section_of_a_fellow_is_not_ones_own() {
    let world = fellows();
    let manager = world.manager();
    // They have one page table, so one at a time changes it.
    let both = manager.alone_in_sections(ONE, || manager.make_section(TWO, 1));
    assert_eq!(both, Err(Error::Busy));
    let section = manager.make_section(ONE, 3).unwrap();
    manager.share(ONE, section, TWO, true).unwrap();
    assert_eq!(manager.accept(TWO, section), Err(Error::BadArgument), "its domain reaches it");
    assert_eq!(manager.drop_section(TWO, section), Err(Error::NotFound));
    assert!(world.page(ONE, section).is_some(), "it is not the fellow's to unmap");
    assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT + 3 + 1, LAID_OUT));
    manager.drop_section(ONE, section).unwrap();
    assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT, LAID_OUT));
}

#[test]
fn of_two_that_die_together_each_gets_back_what_it_paid() {
    let world = fellows();
    let manager = world.manager();
    for life in 0..3 * SECTIONS_EACH as u64 {
        // Of a third party's it would be the same: one of the domain maps it.
        manager.make_section(TWO, 2).unwrap();
        manager.make_section(ONE, 3).unwrap();
        manager.make_section(TWO, 1).unwrap();
        for fellow in [ONE, TWO] {
            manager.kill(fellow).unwrap();
        }
        for fellow in [ONE, TWO] {
            steps(|cursor| manager.release(fellow, cursor));
            assert_eq!(world.used(fellow), LAID_OUT, "of {fellow} after life {life}");
        }
        for fellow in [ONE, TWO] {
            manager.revive(fellow).unwrap();
        }
    }
}

#[test]
fn a_section_is_offered_and_accepted() {
    let world = World::new();
    let manager = world.manager();
    let section = manager.make_section(ONE, 3).unwrap();
    assert_eq!(manager.accept(TWO, section), Err(Error::NotAllowed), "not offered");
    assert_eq!(manager.share(TWO, section, ONE, true), Err(Error::NotAllowed));
    assert_eq!(manager.share(ONE, section + PAGE_SIZE, TWO, true), Err(Error::NotFound));
    for nobody in [0, 9, 257, u16::MAX].map(InstanceId) {
        assert_eq!(manager.share(ONE, section, nobody, true), Err(Error::NotFound));
        assert_eq!(manager.release(nobody, 0), Err(Error::NotFound));
    }
    assert_eq!(manager.share(ONE, section, ONE, true), Err(Error::BadArgument));
    manager.share(ONE, section, TWO, false).unwrap();
    assert_eq!(world.page(TWO, section), None, "nothing is mapped without consent");
    assert_eq!(manager.accept(ONE, section), Err(Error::BadArgument));
    assert_eq!(manager.accept(TWO, section), Ok((3, ONE)));
    for page in 0..3 {
        let (own, other) = (
            world.page(ONE, section + page * PAGE_SIZE),
            world.page(TWO, section + page * PAGE_SIZE),
        );
        assert_eq!(own.unwrap().0, other.unwrap().0);
        assert_eq!((own.unwrap().1, other.unwrap().1), (USER | READ | WRITE, USER | READ));
    }
    assert_eq!(manager.accept(TWO, section), Err(Error::BadArgument), "it has it");
    manager.drop_section(TWO, section).unwrap();
    assert_eq!(manager.drop_section(TWO, section), Err(Error::NotFound));
    assert_eq!(manager.accept(TWO, section), Err(Error::NotAllowed), "an offer holds once");
    assert_eq!(world.used(ONE), LAID_OUT + 3 + 1);
    manager.drop_section(ONE, section).unwrap();
    assert_eq!((world.page(ONE, section), world.used(ONE)), (None, LAID_OUT));
    assert_eq!(manager.drop_section(ONE, section), Err(Error::NotFound));
    for bad in [0, section + 1, section - SECTION_STRIDE, u64::MAX] {
        assert_eq!(manager.accept(TWO, bad), Err(Error::NotFound));
        assert_eq!(manager.drop_section(TWO, bad), Err(Error::NotFound));
    }
}

#[test]
fn nobody_loses_a_mapping_by_anothers_end_and_everyone_pays_for_its_own() {
    let world = World::new();
    let manager = world.manager();
    for owner_dies in [false, true] {
        let section = manager.make_section(ONE, 3).unwrap();
        manager.share(ONE, section, TWO, true).unwrap();
        manager.accept(TWO, section).unwrap();
        assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT + 4, LAID_OUT + 4));
        let physical = world.page(TWO, section).unwrap().0;
        if owner_dies {
            die(&world, ONE);
        } else {
            manager.drop_section(ONE, section).unwrap();
        }
        assert_eq!(world.page(ONE, section), None);
        assert_eq!(world.page(TWO, section).unwrap().0, physical);
        assert_eq!(world.state.frames.available() as u64, FREE_PAGES - 4);
        assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT, LAID_OUT + 4));
        assert_eq!(
            manager.share(ONE, section, TWO, true),
            Err(Error::NotFound),
            "not its any more"
        );
        if owner_dies {
            die(&world, TWO);
        } else {
            manager.drop_section(TWO, section).unwrap();
        }
        assert_eq!(world.state.frames.available() as u64, FREE_PAGES);
        assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT, LAID_OUT));
    }
}

/// What exists is paid for, however often the maker dies: by those who keep it.
#[test]
fn a_hostile_pair_has_its_quotas_once_in_all_lives() {
    let world = World::new();
    let manager = world.manager();
    for _life in 0..8 {
        while let Ok(section) = manager.make_section(ONE, 1) {
            manager.share(ONE, section, TWO, true).unwrap();
            let _ = manager.accept(TWO, section);
        }
        die(&world, ONE);
        let taken = FREE_PAGES - world.state.frames.available() as u64;
        assert!(taken <= world.used(TWO) - LAID_OUT, "{taken}");
        assert_eq!(world.used(ONE), LAID_OUT, "nobody keeps what is the maker's");
    }
    die(&world, TWO);
    assert_eq!(world.state.frames.available() as u64, FREE_PAGES);
}

/// A partner that never leaves: the maker has its whole part again, of pages and of sections.
#[test]
fn a_partner_keeps_nothing_of_the_makers() {
    let world = World::new();
    let manager = world.manager();
    for _ in 0..SECTIONS_EACH {
        let section = manager.make_section(ONE, 1).unwrap();
        manager.share(ONE, section, TWO, true).unwrap();
        manager.accept(TWO, section).unwrap();
        manager.drop_section(ONE, section).unwrap();
    }
    let last = manager.make_section(ONE, 1).unwrap();
    manager.share(ONE, last, TWO, true).unwrap();
    assert_eq!(manager.accept(TWO, last), Err(Error::Exhausted), "as many as it can map");
    manager.drop_section(ONE, last).unwrap();
    for _ in 0..SECTIONS_EACH {
        manager.make_section(ONE, 1).unwrap();
    }
    assert_eq!(manager.make_section(ONE, 1), Err(Error::Exhausted));
}

/// Accomplices give it one after the other, each at another address: it is as able to map one afterwards, and no
/// page table is gone.
#[test]
fn accomplices_do_not_push_a_victim_through_its_page_tables() {
    let world = World::of(9);
    let manager = world.manager();
    let tables = world.state.tables.available();
    let mut addresses = BTreeSet::new();
    for accomplice in (2..=9).map(InstanceId) {
        for _ in 0..4 {
            let section = manager.make_section(accomplice, 1).unwrap();
            addresses.insert(section);
            manager.share(accomplice, section, ONE, true).unwrap();
            manager.accept(ONE, section).unwrap();
            manager.drop_section(ONE, section).unwrap();
        }
    }
    assert_eq!(addresses.len(), 32);
    (2..=9).map(InstanceId).for_each(|accomplice| die(&world, accomplice));
    assert_eq!(world.state.tables.available(), tables);
}

/// All others take all that they can get.
#[test]
fn whatever_others_take_an_instance_has_its_part_of_sections() {
    for instances in [2, 9, 60, 200] {
        let mut world = World::of(instances);
        let part = (COUNT as u64 / u64::from(instances)).min(SECTIONS_EACH as u64 - 1);
        world.instances.iter_mut().for_each(|other| other.sections = part);
        let part = part + 1;
        world.instances[0].sections = part;
        let manager = world.manager();
        for other in (2..=instances).map(InstanceId) {
            while manager.make_section(other, 1).is_ok() {}
        }
        let made = (0..).take_while(|_| manager.make_section(ONE, 1).is_ok()).count();
        assert_eq!(made, part as usize, "of {instances}");
    }
}

#[test]
fn offers_cost_nothing_and_end_with_both_lives() {
    let world = World::new();
    let manager = world.manager();
    let sections: Vec<u64> =
        (0..SECTIONS_EACH).map(|_| manager.make_section(ONE, 1).unwrap()).collect();
    let tables = world.state.tables.available();
    for section in &sections {
        manager.share(ONE, *section, TWO, true).unwrap();
    }
    assert_eq!(world.state.tables.available(), tables, "no table of the other was made");
    die(&world, TWO);
    assert_eq!(
        manager.accept(TWO, sections[0]),
        Err(Error::NotAllowed),
        "offered to its former life"
    );
    manager.share(ONE, sections[0], TWO, true).unwrap();
    die(&world, ONE);
    assert_eq!(manager.accept(TWO, sections[0]), Err(Error::NotFound));
    assert_eq!(manager.make_section(ONE, 2), Ok(sections[0]));
    assert_eq!(manager.accept(TWO, sections[0]), Err(Error::NotAllowed), "another section there");
}

#[test]
fn what_fails_in_the_middle_takes_nothing() {
    let world = World::new();
    let manager = world.manager();
    let section = manager.make_section(ONE, 2).unwrap();
    manager.share(ONE, section, TWO, true).unwrap();
    // The other has no pages left to pay with.
    let rest = manager.allocate(TWO, QUOTA - LAID_OUT - 2).unwrap();
    let (frames, tables) = (world.state.frames.available(), world.state.tables.available());
    assert_eq!(manager.accept(TWO, section), Err(Error::Exhausted));
    assert_eq!(manager.make_section(TWO, 2), Err(Error::Exhausted));
    assert_eq!(world.used(TWO), QUOTA - 2);
    let now = (world.state.frames.available(), world.state.tables.available());
    assert_eq!(now, (frames, tables));
    manager.free(TWO, rest, 1).unwrap();
    assert_eq!(manager.accept(TWO, section), Ok((2, ONE)), "the offer still holds");
    manager.drop_section(TWO, section).unwrap();
    manager.free(TWO, rest + PAGE_SIZE, QUOTA - LAID_OUT - 3).unwrap();

    assert_eq!(manager.make_section(ONE, QUOTA - LAID_OUT - 3), Err(Error::Exhausted), "its quota");
    manager.drop_section(ONE, section).unwrap();
    assert_eq!(world.state.frames.available() as u64, FREE_PAGES);
    while world.state.frames.available() > 3 {
        world.state.frames.take();
    }
    assert_eq!(manager.make_section(ONE, 3), Err(Error::Exhausted), "no page for the index");
    assert_eq!((world.state.frames.available(), world.used(ONE)), (3, LAID_OUT));
    assert!(manager.make_section(ONE, 2).is_ok());
}

/// The thread that offers is stopped at each place in turn, while that to which it offers is retired and another instance
/// comes under its number; that tries to accept at every later place.
#[test]
fn an_offer_is_not_for_who_comes_under_the_number_meanwhile() {
    for stopped in 0..6 {
        let world = World::new();
        let manager = world.manager();
        let at = manager.make_section(ONE, 1).unwrap();
        let number = manager.section(at).unwrap();
        let mut place = 0;
        let offered = manager.offer(number, TWO, true, || {
            if place == stopped {
                manager.kill(TWO).unwrap();
                steps(|cursor| manager.release(TWO, cursor));
                manager.retire_domain(TWO).unwrap();
                manager.add_domain(TWO).unwrap();
                steps(|cursor| manager.renew(TWO, cursor, false));
                manager.revive(TWO).unwrap();
            }
            // Before the offer began it is the successor's, as any.
            if stopped > 0 && place >= stopped {
                assert!(manager.accept(TWO, at).is_err(), "{stopped} {place}");
            }
            place += 1;
        });
        assert_eq!(place, 5, "places");
        // It was all before the offer, or there was none.
        let is_offered = stopped == 0 || stopped == 5;
        assert_eq!(offered, if is_offered { Ok(()) } else { Err(Error::NotFound) });
        let accepted = manager.accept(TWO, at).map(|(pages, _)| pages);
        let expected = if is_offered { Ok(1) } else { Err(Error::NotAllowed) };
        assert_eq!(accepted, expected, "{stopped}");
        // The next offer is like any other.
        if !is_offered {
            manager.share(ONE, at, TWO, true).unwrap();
            assert_eq!(manager.accept(TWO, at), Ok((1, ONE)));
        }
    }
}

/// An owner whose thread gets no processor in the middle of an offer keeps nobody from accepting: neither that one nor one
/// that it had made before.
#[test]
fn an_offer_that_comes_to_no_end_is_none_or_holds() {
    for (before, first) in [(true, 0), (false, 4)] {
        for stopped in 0..5 {
            let world = World::new();
            let manager = world.manager();
            let at = manager.make_section(ONE, 1).unwrap();
            let number = manager.section(at).unwrap();
            if before {
                manager.share(ONE, at, TWO, true).unwrap();
            }
            let mut place = 0;
            let offered = manager.offer(number, TWO, true, || {
                if place == stopped {
                    let holds = if place >= first { Ok((1, ONE)) } else { Err(Error::NotAllowed) };
                    assert_eq!(manager.accept(TWO, at), holds, "{before} {stopped}");
                }
                place += 1;
            });
            assert_eq!(offered, Ok(()));
        }
    }
}
