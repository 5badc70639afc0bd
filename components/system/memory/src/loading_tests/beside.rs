//! Content that is exchanged while its instance lives.

use super::successor::{first_word, loaded, successor_by};
use super::*;

/// A page of data of the writer's package, behind its image's beginning.
const DATA: u64 = 4 * PAGE_SIZE;

/// A package without a heap, whose method, main function and stub are elsewhere.
fn other() -> Vec<u8> {
    head_with(|writer| {
        writer.methods[0].entry = 64;
        (writer.numbers.main, writer.numbers.stub, writer.numbers.heap) = (128, 8, 0);
    })
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
    let number = loaded(&world);
    let read = Head::read(&head()).map(drop);
    assert!(read.is_ok());
    let head = head();
    let with_heap = Head::read(&head).unwrap();
    let refused = manager.make_successor(ONE, number, &with_heap, true);
    assert_eq!(refused.map(drop), Err(Error::NotSupported), "it would have another heap");
    assert_eq!(manager.join(number), Err(Error::NotFound));
    assert_eq!(manager.join(InstanceId(0)), Err(Error::NotFound));
    let other = other();
    let read = Head::read(&other).unwrap();
    let (next, at) = manager.make_successor(ONE, number, &read, true).unwrap();
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
