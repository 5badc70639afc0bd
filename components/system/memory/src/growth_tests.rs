//! Addresses into which instances grow.

use crate::tests::{ONE, QUOTA, TWO, World, behind, data, region_of, steps};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::record::{CONTENT_GROWTH, Segment};
use cairn_abi::{DomainId, Error, InstanceId};
use std::sync::atomic::Ordering::Relaxed;

/// Pages into which each instance grows, more than its quota holds and than one step of a death looks at.
const PAGES: u64 = 40;

/// Behind the data.
fn growth(instance: InstanceId) -> u64 {
    data(instance) + PAGE_SIZE
}

fn domain(instance: InstanceId) -> DomainId {
    DomainId(1000 - instance.0)
}

fn world() -> World {
    let range = |instance| Segment {
        instance,
        content: CONTENT_GROWTH,
        flags: 0,
        address: growth(instance),
        size: PAGES * PAGE_SIZE,
        physical: 0,
        initial: 0,
    };
    World::with_segments(&[range(ONE), range(TWO)])
}

#[test]
fn an_instance_grows_within_its_quota() {
    let world = world();
    let free = world.free();
    assert_eq!(world.manager().extend(ONE, growth(ONE), 2), Ok(()));
    assert_eq!(world.manager().grow_at(domain(ONE), growth(ONE) + 39 * PAGE_SIZE + 7), Ok(()));
    for page in [0, 1, 39] {
        let (physical, _) = world.page(ONE, growth(ONE) + page * PAGE_SIZE).unwrap();
        let is_zero = |word: u64| world.word(physical + word * 8).load(Relaxed) == 0;
        assert!((0..512).all(is_zero), "page {page} has what another had");
    }
    assert_eq!((world.used(ONE), world.free()), (3 + 3, free - 3));
    // Another thread was faster.
    assert_eq!(world.manager().grow_at(domain(ONE), growth(ONE)), Ok(()));
    assert_eq!(world.manager().extend(ONE, growth(ONE) + PAGE_SIZE, 2), Err(Error::Busy));
    assert_eq!((world.used(ONE), world.free()), (3 + 3, free - 3));
    // What it grows by counts as what it asks for does.
    let left = QUOTA - 3 - 3;
    let next = growth(ONE) + 2 * PAGE_SIZE;
    assert_eq!(world.manager().extend(ONE, next, left + 1), Err(Error::Exhausted));
    assert_eq!(world.manager().extend(ONE, next, left), Ok(()));
    assert_eq!(
        world.manager().grow_at(domain(ONE), growth(ONE) + 30 * PAGE_SIZE),
        Err(Error::Exhausted)
    );
    assert!(world.manager().allocate(ONE, 1).is_err());
    assert_eq!(world.manager().extend(TWO, growth(TWO), 1), Ok(()), "others have their own");
}

#[test]
fn nothing_grows_elsewhere() {
    let world = world();
    let free = world.free();
    let (first, end) = (growth(ONE), growth(ONE) + PAGES * PAGE_SIZE);
    for (address, pages) in [
        (first - PAGE_SIZE, 1),
        (first + 8, 1),
        (end, 1),
        (end - PAGE_SIZE, 2),
        (first, 0),
        (first, PAGES + 1),
        (first, u64::MAX),
        (first, u64::MAX / PAGE_SIZE),
        (!(PAGE_SIZE - 1), 1),
        (growth(TWO), 1),
        (behind(ONE), 1),
        (0, 1),
    ] {
        assert_eq!(
            world.manager().extend(ONE, address, pages),
            Err(Error::BadArgument),
            "{address:#x}"
        );
    }
    for (whose, address) in [
        (ONE, growth(TWO)),
        (TWO, growth(ONE)),
        (ONE, first - 1),
        (ONE, end),
        (ONE, region_of(ONE)),
        (ONE, 0),
        (ONE, u64::MAX),
    ] {
        assert_eq!(
            world.manager().grow_at(domain(whose), address),
            Err(Error::NotFound),
            "{address:#x}"
        );
    }
    assert_eq!((world.used(ONE), world.free()), (3, free));
    // It is no memory that it asked for, and goes back with it only.
    world.manager().extend(ONE, first, 1).unwrap();
    assert_eq!(world.manager().free(ONE, first, 1), Err(Error::BadArgument));
}

#[test]
fn a_death_takes_back_what_grew() {
    let world = world();
    let free = world.free();
    world.manager().allocate(ONE, 2).unwrap();
    for page in [0, 1, 33, 39] {
        world.manager().extend(ONE, growth(ONE) + page * PAGE_SIZE, 1).unwrap();
    }
    world.manager().extend(TWO, growth(TWO), 3).unwrap();
    world.manager().kill(ONE).unwrap();
    steps(|at| world.manager().release(ONE, at));
    steps(|at| world.manager().renew(ONE, at, false));
    world.manager().revive(ONE).unwrap();
    assert_eq!((world.used(ONE), world.used(TWO)), (3, 3 + 3));
    assert_eq!(world.free(), free - 3);
    assert!(world.page(ONE, growth(ONE)).is_none());
    assert_eq!(world.manager().extend(ONE, growth(ONE), PAGES.min(QUOTA - 3)), Ok(()));
}

/// It counts where what was asked for at run time is shown.
#[test]
fn what_grew_is_measured_once() {
    let world = world();
    world.manager().extend(ONE, growth(ONE), 2).unwrap();
    let (mut at, mut sizes) = (0, Vec::new());
    while let Ok(part) = world.manager().measure(ONE, at) {
        at = part.next;
        if part.size > 0 {
            sizes.push((part.content, part.used));
        }
    }
    assert_eq!(sizes.last(), Some(&(None, 2 * PAGE_SIZE)));
    assert_eq!(sizes.len(), 3, "data, stack, run time");
}
