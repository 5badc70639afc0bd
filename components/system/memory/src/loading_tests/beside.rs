//! Content that is exchanged while its instance lives.

use super::successor::{self, end, first_word, successor_by};
use super::*;
use crate::instant;
use core::mem::offset_of;

/// A page of data of the writer's package, behind its image's beginning.
const DATA: u64 = 4 * PAGE_SIZE;

/// A package without a heap, whose method, main function and stub are elsewhere.
fn other() -> Vec<u8> {
    head_with(|writer| {
        writer.methods[0].entry = 64;
        (writer.numbers.main, writer.numbers.stub, writer.numbers.heap) = (128, 8, 0);
    })
}

/// An instance that has no threads of its own.
fn loaded(world: &World) -> InstanceId {
    let number = successor::loaded(world);
    end_threads(world, number);
    number
}

fn end_threads(world: &World, number: InstanceId) {
    let record = world.manager().record(number).unwrap();
    record.set(offset_of!(Instance, threads), 0u32);
}

/// Of an instance where its content is: the beginning of its image, and the first word of its data.
fn content(world: &World, number: InstanceId) -> (u64, Option<i64>) {
    let manager = world.manager();
    let image = manager.record(number).unwrap().read().stub - 8;
    (image, first_word(world, number, image + DATA))
}

#[test]
fn it_is_beside_the_other_and_goes_on_with_its_state() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let first = world.used(ONE);
    let number = loaded(&world);
    let start = manager.record(number).unwrap().start_address();
    let mut former = start + placement(number, &manager).image().start;
    let (physical, _) = world.page(number, former + DATA).unwrap();
    world.word(physical).store(42, Relaxed);
    let mut before = None;
    for round in 0..5 {
        let (next, at) = successor_by(&world, number, &other(), true);
        let image = start + at;
        assert_ne!(image, former);
        assert_eq!(first_word(&world, number, image), None);
        let whole = state(&world);
        assert_eq!(
            manager.keep_state(next, (former + DATA, image + DATA), 1),
            Err(Error::NotFound)
        );
        manager.join(next).unwrap();
        assert_eq!(manager.join(next), Err(Error::NotFound), "it is");
        assert_eq!(first_word(&world, number, image), Some(0x5000));
        assert_eq!(first_word(&world, number, former + DATA), Some(42));
        // Another's address, not whole pages, more than there is, text, nothing, what would wrap around.
        for (from, to, pages) in [
            (former + DATA, former + DATA, 1),
            (image + DATA, image + DATA, 1),
            (former + DATA + 8, image + DATA, 1),
            (former + DATA, image + DATA + 8, 1),
            (former + DATA, image + DATA, 3),
            (former, image + DATA, 1),
            (former + DATA, image, 1),
            (former + DATA, image + DATA, 0),
            (former + DATA, image + DATA, u64::MAX),
            (former + DATA, image + DATA, 1 << 52),
            (u64::MAX - 4095, image + DATA, 1),
        ] {
            let kept = manager.keep_state(next, (from, to), pages);
            assert_eq!(kept, Err(Error::BadArgument), "{from:x} {to:x} {pages}");
        }
        if round % 2 == 1 {
            // It goes, and nothing of it is left.
            manager.retire(next).unwrap();
            assert_eq!(first_word(&world, number, image), None);
            assert_eq!(first_word(&world, number, former + DATA), Some(42));
            assert_ne!(state(&world), whole);
            assert_eq!(Some(state(&world)), before);
            continue;
        }
        manager.keep_state(next, (former + DATA, image + DATA), 1).unwrap();
        assert_eq!(content(&world, number), (image, Some(42)));
        assert_eq!(first_word(&world, number, former + DATA), Some(42), "both have it");
        assert!(first_word(&world, number, former).is_some());
        assert_eq!(
            manager.keep_state(next, (image + DATA, former + DATA), 1),
            Err(Error::NotFound),
            "there is no way back"
        );
        manager.retire(next).unwrap();
        assert_eq!(first_word(&world, number, former), None);
        assert_eq!(first_word(&world, number, former + DATA), None);
        assert_eq!(content(&world, number), (image, Some(42)));
        former = image;
        before = Some(state(&world));
    }
    unload(&world, number);
    assert_eq!(world.used(ONE), first);
}

#[test]
fn what_is_no_successor_does_not_join() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let number = successor::loaded(&world);
    let read = Head::read(&head()).map(drop);
    assert!(read.is_ok());
    let head = head();
    let with_heap = Head::read(&head).unwrap();
    let refused = manager.make_successor(ONE, number, &with_heap, Some(ONE));
    assert_eq!(refused.map(drop), Err(SuccessorError::Heap), "it would have another heap");
    let other = other();
    let read = Head::read(&other).unwrap();
    let refused = manager.make_successor(ONE, number, &read, Some(ONE));
    assert_eq!(refused.map(drop), Err(SuccessorError::Threads), "a thread of its own may be in it");
    let (own, _) = manager.make_successor(ONE, number, &read, Some(number)).unwrap();
    manager.retire(own).unwrap();
    end_threads(&world, number);
    assert_eq!(manager.join(number), Err(Error::NotFound));
    assert_eq!(manager.join(InstanceId(0)), Err(Error::NotFound));
    let (next, at) = manager.make_successor(ONE, number, &read, Some(ONE)).unwrap();
    assert_eq!(manager.join(next), Err(Error::BadArgument), "it is not whole");
    manager.retire(next).unwrap();
    // Something that the instance has got since.
    let (next, same) = successor_by(&world, number, &other, true);
    assert_eq!(at, same);
    let root = manager.root(number).unwrap();
    let start = manager.record(number).unwrap().start_address();
    let entry = manager.tables.find(root, start + at + DATA).unwrap();
    entry.store(1 << 10, Relaxed);
    assert_eq!(manager.join(next), Err(Error::Busy));
    entry.store(0, Relaxed);
    assert_eq!(first_word(&world, number, start + at), None, "nothing of it");
    manager.join(next).unwrap();
    manager.retire(next).unwrap();
    unload(&world, number);
}

#[test]
fn what_an_instance_allocates_and_what_is_beside_it_are_kept_apart() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let first = world.used(ONE);
    let number = loaded(&world);
    let start = manager.record(number).unwrap().start_address();
    let mut former = placement(number, &manager).image().start;
    for round in 0..4 {
        let (next, at) = successor_by(&world, number, &other(), true);
        // It goes on with what it allocated, which would be in the middle of its content afterwards.
        let own = manager.allocate(number, 1).unwrap();
        assert_eq!(manager.join(next), Err(Error::NotSupported));
        manager.free(number, own, 1).unwrap();
        manager.join(next).unwrap();
        let is_refused = |offset: u64| {
            let freed = manager.free(number, start + offset + DATA, 1);
            assert_eq!(freed, Err(Error::BadArgument), "{round} {offset:x}");
        };
        is_refused(at);
        let own = manager.allocate(number, 1).unwrap();
        let ends = manager.account(number).unwrap().said().base.into();
        assert!(own - start >= ends && ends > at.max(former));
        manager.keep_state(next, (start + former + DATA, start + at + DATA), 1).unwrap();
        is_refused(former);
        if round % 2 == 0 {
            // It dies before the former content is gone.
            end(&world, number);
            let laid_out = manager.record(number).unwrap().memory_used() / PAGE_SIZE;
            assert_eq!(manager.usage_of(number).unwrap().0, laid_out);
            manager.revive(number).unwrap();
            assert!(first_word(&world, number, start + former).is_some(), "it is there still");
            manager.retire(next).unwrap();
        } else {
            manager.retire(next).unwrap();
            manager.free(number, own, 1).unwrap();
        }
        assert!(first_word(&world, number, start + at + DATA).is_some());
        former = at;
    }
    unload(&world, number);
    assert_eq!(world.used(ONE), first);
}

#[test]
fn it_does_not_go_before_what_is_beside_it() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let first = state(&world);
    for keeps in [false, true] {
        let number = loaded(&world);
        let start = manager.record(number).unwrap().start_address();
        let former = placement(number, &manager).image().start;
        let (next, at) = successor_by(&world, number, &other(), true);
        manager.join(next).unwrap();
        if keeps {
            let places = (start + former + DATA, start + at + DATA);
            manager.keep_state(next, places, 1).unwrap();
        }
        end(&world, number);
        assert_eq!(manager.retire(number), Err(Error::Busy), "{keeps}");
        manager.retire(next).unwrap();
        manager.retire(number).unwrap();
        assert_eq!((state(&world).0, state(&world).2), (first.0, first.2), "{keeps}");
    }
}

/// A world that another thread can have, too.
fn shared() -> &'static World {
    Box::leak(Box::new(World::loading_in(3, 90)))
}

/// Content comes beside an instance's while a thread of `body`, which has the instance's number, where its region begins and where the content
/// lies in that, has looked and claims nothing yet. When that content has gone nothing is lost.
fn while_content_comes(body: impl FnOnce(&'static World, InstanceId, u64, u64)) {
    let world = shared();
    let manager = world.manager();
    let number = loaded(world);
    let start = manager.record(number).unwrap().start_address();
    let whole = state(world);
    let (next, at) = successor_by(world, number, &other(), true);
    instant::next(move || world.manager().join(next).unwrap());
    body(world, number, start, at);
    manager.retire(next).unwrap();
    assert_eq!((state(world).0, state(world).1, state(world).2), (whole.0, whole.1, whole.2));
}

#[test]
fn who_was_about_to_allocate_before_content_came_allocates_behind_it() {
    while_content_comes(|world, number, start, at| {
        let manager = world.manager();
        let own = manager.allocate(number, 2).unwrap();
        let base = manager.account(number).unwrap().said().base;
        assert!(own - start >= base.into() && u64::from(base) > at, "{own:x}");
        let first = first_word(world, number, start + at);
        assert_eq!(first, Some(0x5000), "the content is as it was");
        manager.free(number, own, 2).unwrap();
    });
}

#[test]
fn who_was_about_to_give_pages_back_before_content_came_gives_back_none_of_it() {
    while_content_comes(|world, number, start, at| {
        let manager = world.manager();
        let freed = manager.free(number, start + at + DATA, 1);
        assert_eq!(freed, Err(Error::BadArgument));
        assert_eq!(first_word(world, number, start + at + DATA), Some(0x5000));
        assert_eq!(manager.account(number).unwrap().used(), 0);
    });
}

#[test]
fn where_something_is_claimed_no_content_comes() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let number = loaded(&world);
    let (next, at) = successor_by(&world, number, &other(), true);
    let (root, start) =
        (manager.root(number).unwrap(), manager.record(number).unwrap().start_address());
    // The last page: those before it were there.
    let last = manager.tables.find(root, start + at + DATA).unwrap();
    assert!(crate::tables::reserve(last));
    assert_eq!(manager.join(next), Err(Error::Busy));
    assert_eq!(first_word(&world, number, start + at), None);
    crate::tables::unmap(last);
    manager.join(next).unwrap();
    assert_eq!(first_word(&world, number, start + at + DATA), Some(0x5000));
}

#[test]
fn who_dies_while_its_content_is_exchanged_is_renewed_once_more() {
    let world = shared();
    let manager = world.manager();
    let number = loaded(world);
    let start = manager.record(number).unwrap().start_address();
    let former = start + placement(number, &manager).image().start;
    let (physical, _) = world.page(number, former + DATA).unwrap();
    world.word(physical).store(42, Relaxed);
    let (next, at) = successor_by(world, number, &other(), true);
    let image = start + at;
    manager.join(next).unwrap();
    instant::next(move || {
        let manager = world.manager();
        end(world, number);
        steps(|cursor| manager.renew(number, cursor, false));
        assert_eq!(manager.revive(number), Err(Error::Busy), "it is being exchanged");
        // What a step of that left undone, which found neither the one content nor the other.
        world.word(physical).store(42, Relaxed);
    });
    manager.keep_state(next, (former + DATA, image + DATA), 1).unwrap();
    assert_eq!(manager.revive(number), Err(Error::Busy), "other content was renewed");
    end(world, number);
    steps(|cursor| manager.renew(number, cursor, false));
    manager.revive(number).unwrap();
    assert_eq!(content(world, number), (image, Some(0x5000)), "nothing of its last life");
    manager.retire(next).unwrap();
    // In peace it lives at once.
    end(world, number);
    steps(|cursor| manager.renew(number, cursor, false));
    manager.revive(number).unwrap();
}
