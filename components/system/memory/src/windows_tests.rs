//! Lasting windows and pages that are torn off, between two instances, either of which may be hostile.

use crate::tables::{OWN, READ, USER, WRITE};
use crate::tests::{ONE, QUOTA, TWO, World, data, steps};
use crate::windows::{LENT_MAXIMUM, TORN_MAXIMUM};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::memory::SECTIONS_EACH;
use cairn_abi::{Error, InstanceId};
use std::sync::atomic::Ordering::Relaxed;

/// Pages that an instance of the test's machine has from the layout.
const LAID_OUT: u64 = 3;

/// Free pages, and what the two have.
fn balance(world: &World) -> (u64, u64, u64) {
    (world.free(), world.used(ONE), world.used(TWO))
}

fn die(world: &World, instance: InstanceId) {
    world.manager().kill(instance).unwrap();
    steps(|at| world.manager().release(instance, at));
    steps(|at| world.manager().renew(instance, at, false));
    world.manager().revive(instance).unwrap();
}

fn physical(world: &World, instance: InstanceId, address: u64) -> Option<u64> {
    world.page(instance, address).map(|(physical, _)| physical)
}

fn load(world: &World, instance: InstanceId, address: u64) -> i64 {
    let page = physical(world, instance, address).expect("a page");
    world.word(page + address % PAGE_SIZE).load(Relaxed)
}

fn store(world: &World, instance: InstanceId, address: u64, word: i64) {
    let page = physical(world, instance, address).expect("a page");
    world.word(page + address % PAGE_SIZE).store(word, Relaxed);
}

/// Instance one lends three pages, and two has them: where each finds them.
fn lent(world: &World, writable: bool) -> (u64, u64) {
    let manager = world.manager();
    let home = manager.allocate(ONE, 3).unwrap();
    let window = manager.lend(ONE, home, 3).unwrap();
    manager.share(ONE, window, TWO, writable).unwrap();
    assert_eq!(manager.accept(TWO, window), Ok((3, ONE)));
    (home, window)
}

#[test]
fn both_have_what_is_lent() {
    for writable in [false, true] {
        let world = World::new();
        let (home, window) = lent(&world, writable);
        for page in 0..3 {
            let at = page * PAGE_SIZE;
            let (there, rights) = world.page(TWO, window + at).unwrap();
            assert_eq!(physical(&world, ONE, home + at), Some(there));
            assert_eq!(rights, USER | READ | if writable { WRITE } else { 0 });
            assert_eq!(world.page(ONE, window + at), None, "its owner has it where it was");
        }
        assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT + 3 + 1, LAID_OUT + 3 + 1));
    }
}

#[test]
fn what_is_lent_is_not_lent_again_nor_given_back() {
    let world = World::new();
    let (home, window) = lent(&world, true);
    let manager = world.manager();
    let before = balance(&world);
    assert_eq!(manager.free(ONE, home, 3), Err(Error::Busy));
    assert_eq!(manager.free(ONE, home + PAGE_SIZE, 1), Err(Error::Busy));
    assert_eq!(manager.lend(ONE, home, 3), Err(Error::Busy));
    assert_eq!(manager.tear(ONE, home, 1, TWO), Err(Error::Busy));
    assert_eq!(manager.lend(ONE, window, 3), Err(Error::BadArgument));
    assert_eq!(manager.lend(TWO, window, 3), Err(Error::BadArgument), "it has it lent");
    assert_eq!(manager.tear(TWO, window, 3, ONE), Err(Error::BadArgument));
    assert_eq!(manager.share(TWO, window, ONE, true), Err(Error::NotAllowed));
    assert_eq!(manager.take(TWO, window, ONE), Err(Error::BadArgument), "it is not torn off");
    assert_eq!(manager.accept(TWO, window), Err(Error::BadArgument), "it has it already");
    assert_eq!(balance(&world), before);
}

#[test]
fn what_is_not_ones_own_is_not_lent() {
    let world = World::new();
    let manager = world.manager();
    let (own, other) = (manager.allocate(ONE, 2).unwrap(), manager.allocate(TWO, 2).unwrap());
    let before = balance(&world);
    for (address, pages) in [
        (other, 1),
        (data(ONE), 1),
        (own, 0),
        (own + 8, 1),
        (own - PAGE_SIZE, 2),
        (0, 1),
        (own, u64::MAX),
        (!(PAGE_SIZE - 1), 1),
    ] {
        assert_eq!(manager.lend(ONE, address, pages), Err(Error::BadArgument), "{address:#x}");
        assert_eq!(manager.tear(ONE, address, pages, TWO), Err(Error::BadArgument), "{address:#x}");
    }
    assert_eq!(manager.lend(ONE, own, 3), Err(Error::NotFound));
    assert_eq!(manager.tear(ONE, own + PAGE_SIZE, 2, TWO), Err(Error::NotFound));
    assert_eq!(manager.lend(ONE, own, LENT_MAXIMUM + 1), Err(Error::BadArgument));
    assert_eq!(manager.tear(ONE, own, TORN_MAXIMUM + 1, TWO), Err(Error::BadArgument));
    assert_eq!(manager.tear(ONE, own, 1, ONE), Err(Error::BadArgument));
    for nobody in [0, 9, 257, u16::MAX].map(InstanceId) {
        assert_eq!(manager.tear(ONE, own, 1, nobody), Err(Error::NotFound));
        assert_eq!(manager.lend(nobody, own, 1), Err(Error::NotFound));
        assert_eq!(manager.take(nobody, own, ONE), Err(Error::NotFound));
    }
    assert_eq!(balance(&world), before);
    let own_entry = world.page(ONE, own).map(|(_, rights)| rights);
    assert_eq!(own_entry, Some(USER | READ | WRITE), "it is as it was");
}

/// The other side is not asked, and goes on with what it had.
#[test]
fn its_owner_closes_a_window_that_another_has() {
    let world = World::new();
    let free = balance(&world);
    let (home, window) = lent(&world, true);
    let manager = world.manager();
    store(&world, TWO, window + PAGE_SIZE, 5);
    manager.drop_section(ONE, window).unwrap();
    // A copy: one writes where the other does not read.
    assert_eq!(load(&world, ONE, home + PAGE_SIZE), 5);
    store(&world, ONE, home + PAGE_SIZE, 6);
    store(&world, TWO, window, 7);
    assert_eq!((load(&world, TWO, window + PAGE_SIZE), load(&world, ONE, home)), (5, 0));
    assert_eq!(manager.drop_section(ONE, window), Err(Error::NotFound));
    // Each has its own now, and gives it back.
    manager.free(ONE, home, 3).unwrap();
    assert_eq!(load(&world, TWO, window), 7);
    manager.drop_section(TWO, window).unwrap();
    assert_eq!(balance(&world), free);
    assert_eq!(world.page(TWO, window), None);
}

#[test]
fn the_other_side_closes_it() {
    let world = World::new();
    let free = balance(&world);
    let (home, window) = lent(&world, true);
    let manager = world.manager();
    store(&world, TWO, window, 5);
    let page = physical(&world, ONE, home);
    manager.drop_section(TWO, window).unwrap();
    assert_eq!(world.page(TWO, window), None);
    assert_eq!(manager.accept(TWO, window), Err(Error::NotAllowed), "an offer holds once");
    manager.drop_section(ONE, window).unwrap();
    assert_eq!(physical(&world, ONE, home), page, "nothing was copied");
    assert_eq!(load(&world, ONE, home), 5);
    assert_eq!(manager.lend(ONE, home, 3), Ok(window), "it can be lent again");
    manager.drop_section(ONE, window).unwrap();
    manager.free(ONE, home, 3).unwrap();
    assert_eq!(balance(&world), free);
}

#[test]
fn either_side_dies() {
    let world = World::new();
    let free = balance(&world);
    for _ in 0..2 * SECTIONS_EACH {
        let (_, window) = lent(&world, true);
        store(&world, TWO, window, 5);
        die(&world, ONE);
        assert_eq!((load(&world, TWO, window), world.used(ONE)), (5, LAID_OUT));
        world.manager().drop_section(TWO, window).unwrap();
        assert_eq!(balance(&world), free);
        let (home, window) = lent(&world, true);
        store(&world, ONE, home, 6);
        die(&world, TWO);
        assert_eq!((load(&world, ONE, home), world.used(TWO)), (6, LAID_OUT));
        assert_eq!(world.manager().accept(TWO, window), Err(Error::NotAllowed));
        die(&world, ONE);
        assert_eq!(balance(&world), free);
        let (_, window) = lent(&world, true);
        die(&world, TWO);
        world.manager().drop_section(ONE, window).unwrap();
        die(&world, ONE);
        assert_eq!(balance(&world), free);
        // Both at once.
        lent(&world, true);
        for one in [ONE, TWO] {
            world.manager().kill(one).unwrap();
        }
        for one in [ONE, TWO] {
            steps(|at| world.manager().release(one, at));
        }
        assert_eq!(balance(&world), free);
        for one in [ONE, TWO] {
            world.manager().revive(one).unwrap();
        }
    }
}

#[test]
fn several_have_what_is_lent() {
    let world = World::of(3);
    let three = InstanceId(3);
    let (home, window) = lent(&world, true);
    let manager = world.manager();
    manager.share(ONE, window, three, false).unwrap();
    assert_eq!(manager.accept(three, window), Ok((3, ONE)));
    store(&world, TWO, window, 5);
    assert_eq!((load(&world, three, window), load(&world, ONE, home)), (5, 5));
    manager.drop_section(ONE, window).unwrap();
    store(&world, TWO, window, 6);
    assert_eq!((load(&world, three, window), load(&world, ONE, home)), (6, 5));
    die(&world, TWO);
    assert_eq!(load(&world, three, window), 6);
    manager.drop_section(three, window).unwrap();
    manager.free(ONE, home, 3).unwrap();
    for instance in [ONE, TWO, three] {
        assert_eq!(world.used(instance), LAID_OUT);
    }
}

#[test]
fn torn_pages_change_their_owner_and_are_not_copied() {
    let world = World::new();
    let free = balance(&world);
    let manager = world.manager();
    let home = manager.allocate(ONE, 3).unwrap();
    store(&world, ONE, home + 2 * PAGE_SIZE, 5);
    let pages = [0, 1, 2].map(|page| physical(&world, ONE, home + page * PAGE_SIZE));
    let torn = manager.tear(ONE, home, 3, TWO).unwrap();
    assert_eq!(world.page(ONE, home), None);
    assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT + 3 + 1, LAID_OUT));
    assert_eq!(manager.accept(TWO, torn), Err(Error::BadArgument), "it is no section");
    assert_eq!(manager.take(TWO, torn, TWO), Err(Error::NotAllowed), "that is not whose it is");
    let (there, count) = manager.take(TWO, torn, ONE).unwrap();
    assert_eq!(count, 3);
    assert_eq!([0, 1, 2].map(|page| physical(&world, TWO, there + page * PAGE_SIZE)), pages);
    assert_eq!(load(&world, TWO, there + 2 * PAGE_SIZE), 5);
    assert_eq!((world.used(ONE), world.used(TWO)), (LAID_OUT, LAID_OUT + 3));
    for (who, from) in [(TWO, ONE), (ONE, ONE)] {
        assert_eq!(manager.take(who, torn, from), Err(Error::NotFound), "once only");
    }
    // They are as what it allocates: lent, torn off, given back.
    let window = manager.lend(TWO, there, 3).unwrap();
    manager.drop_section(TWO, window).unwrap();
    let back = manager.tear(TWO, there, 3, ONE).unwrap();
    let (again, _) = manager.take(ONE, back, TWO).unwrap();
    assert_eq!(load(&world, ONE, again + 2 * PAGE_SIZE), 5);
    manager.free(ONE, again, 3).unwrap();
    assert_eq!(balance(&world), free);
}

/// Who has no more than its quota gets back what nobody took.
#[test]
fn nobody_else_takes_them_but_their_owner() {
    let world = World::of(3);
    let three = InstanceId(3);
    let manager = world.manager();
    let all = QUOTA - LAID_OUT - 1;
    let home = manager.allocate(ONE, all).unwrap();
    store(&world, ONE, home, 5);
    let before = balance(&world);
    let torn = manager.tear(ONE, home, all, TWO).unwrap();
    assert_eq!(world.used(ONE), QUOTA);
    assert_eq!(manager.take(three, torn, ONE), Err(Error::NotAllowed));
    assert_eq!(manager.take(three, torn, three), Err(Error::NotAllowed));
    manager.allocate(TWO, 2).unwrap();
    assert_eq!(manager.take(TWO, torn, ONE), Err(Error::Exhausted), "its quota does not hold them");
    manager.free(TWO, crate::tests::behind(TWO), 2).unwrap();
    let (there, _) = manager.take(ONE, torn, ONE).unwrap();
    assert_eq!((load(&world, ONE, there), balance(&world)), (5, before));
    assert_eq!(manager.take(TWO, torn, ONE), Err(Error::NotFound));
    // Or gives them up.
    let torn = manager.tear(ONE, there, all, TWO).unwrap();
    manager.drop_section(ONE, torn).unwrap();
    assert_eq!(manager.take(TWO, torn, ONE), Err(Error::NotFound));
    assert_eq!(world.used(ONE), LAID_OUT);
}

#[test]
fn one_dies_while_pages_are_on_their_way() {
    let world = World::new();
    let free = balance(&world);
    let manager = world.manager();
    let torn = || {
        let home = manager.allocate(ONE, 2).unwrap();
        manager.tear(ONE, home, 2, TWO).unwrap()
    };
    for _ in 0..2 * SECTIONS_EACH {
        let name = torn();
        die(&world, ONE);
        assert_eq!(balance(&world), free);
        assert_eq!(manager.take(TWO, name, ONE), Err(Error::NotFound));
        let name = torn();
        die(&world, TWO);
        assert_eq!(
            manager.take(TWO, name, ONE),
            Err(Error::NotAllowed),
            "they were not for this life"
        );
        let (there, pages) = manager.take(ONE, name, ONE).unwrap();
        manager.free(ONE, there, pages).unwrap();
        assert_eq!(balance(&world), free);
        // What was taken dies with who took it.
        manager.take(TWO, torn(), ONE).unwrap();
        die(&world, TWO);
        assert_eq!(balance(&world), free);
    }
}

/// So many at a time as it may have sections, and each is paid for.
#[test]
fn an_instance_has_its_part_of_windows() {
    let world = World::new();
    let manager = world.manager();
    let before = balance(&world);
    let mut names = Vec::new();
    for number in 0..SECTIONS_EACH {
        let home = manager.allocate(ONE, 1).unwrap();
        names.push(match number % 2 {
            0 => manager.tear(ONE, home, 1, TWO).unwrap(),
            _ => manager.lend(ONE, home, 1).unwrap(),
        });
    }
    assert_eq!(world.used(ONE), LAID_OUT + 2 * SECTIONS_EACH as u64);
    let home = manager.allocate(ONE, 1).unwrap();
    assert_eq!(manager.lend(ONE, home, 1), Err(Error::Exhausted));
    assert_eq!(manager.tear(ONE, home, 1, TWO), Err(Error::Exhausted));
    assert!(world.page(ONE, home).is_some(), "it has it still");
    assert!(manager.make_section(TWO, 1).is_ok(), "others have theirs");
    die(&world, TWO);
    die(&world, ONE);
    assert_eq!(balance(&world), before);
}

#[test]
fn a_page_in_a_window_of_a_call_stays_with_its_owner() {
    let world = World::new();
    let manager = world.manager();
    let home = manager.allocate(ONE, 2).unwrap();
    let window = crate::tests::window_slot(TWO);
    let page = physical(&world, ONE, home + PAGE_SIZE).unwrap();
    let entry = manager.tables.find(manager.root(TWO).unwrap(), window).unwrap();
    crate::tables::map_over(entry, page, USER | READ);
    let before = balance(&world);
    assert_eq!(manager.tear(ONE, home, 2, TWO), Err(Error::Busy));
    assert_eq!(manager.lend(ONE, home, 2), Err(Error::Busy));
    assert_eq!(balance(&world), before);
    assert!(world.page(ONE, home).is_some() && world.page(ONE, home + PAGE_SIZE).is_some());
    entry.store(0, Relaxed);
    assert!(manager.tear(ONE, home, 2, TWO).is_ok());
}

#[test]
fn what_is_lent_is_in_no_window_of_a_call() {
    let world = World::new();
    let (home, window) = lent(&world, true);
    let manager = world.manager();
    let is_own = |instance, address| {
        let root = manager.root(instance).unwrap();
        let word = manager.tables.find(root, address).unwrap().load(Relaxed) as u64;
        word & OWN != 0
    };
    assert!(!is_own(ONE, home) && !is_own(TWO, window));
    manager.drop_section(ONE, window).unwrap();
    assert!(is_own(ONE, home) && !is_own(TWO, window));
}
