//! Content that takes the place of an instance's.

use super::*;
use cairn_abi::loadable::{Entries, Slot};
use cairn_abi::startup::Startup;
use std::mem::offset_of;

/// A whole instance that has no memory for DMA.
pub(super) fn loaded(world: &World) -> InstanceId {
    let number = load(world, ONE, "valve", &head()).unwrap();
    let start = world.manager().place(number).unwrap().start_address();
    let (startup, _) = world.page(number, start + STARTUP_OFFSET).unwrap();
    world.word(startup + offset_of!(Startup, dma_size) as u64).store(0, Relaxed);
    number
}

/// A whole successor of an instance, of the writer's package, whose words differ from those of a first life by their pages.
pub(super) fn successor(world: &World, of: InstanceId, head: &[u8]) -> (InstanceId, u64) {
    successor_by(world, of, head, false)
}

pub(super) fn successor_by(
    world: &World,
    of: InstanceId,
    head: &[u8],
    in_place: bool,
) -> (InstanceId, u64) {
    let manager = world.manager();
    let read = Head::read(head).unwrap();
    let (number, at) = manager.make_successor(ONE, of, &read, in_place.then_some(ONE)).unwrap();
    let startup = (STARTUP_OFFSET, PAGE_SIZE, CONTENT_CONSTANTS);
    let segments = read.segments().map(|one| (at + one.offset, one.file_size, one.content));
    for (offset, size, content) in segments.chain([startup]) {
        for place in (0..size).step_by(PAGE_SIZE as usize) {
            let from = page_of(world, ONE, 0x5000);
            manager.give(ONE, number, (offset + place, from), 1, content).unwrap();
        }
    }
    manager.finish(number).unwrap();
    (number, at)
}

pub(super) fn end(world: &World, instance: InstanceId) {
    let manager = world.manager();
    manager.kill(instance).unwrap();
    steps(|cursor| manager.release(instance, cursor));
}

pub(super) fn begin(world: &World, instance: InstanceId) {
    let manager = world.manager();
    steps(|cursor| manager.renew(instance, cursor, false));
    manager.revive(instance).unwrap();
}

/// What is in a page of an instance, its first word.
pub(super) fn first_word(world: &World, instance: InstanceId, address: u64) -> Option<i64> {
    let (physical, _) = world.page(instance, address)?;
    Some(world.word(physical).load(Relaxed))
}

#[test]
fn a_successor_takes_the_place_of_the_content_and_gives_it_back() {
    let world = World::loading_in(3, 60);
    let manager = world.manager();
    let first = world.used(ONE);
    let number = loaded(&world);
    let before = state(&world);
    let other = head_with(|writer| {
        writer.methods[0].entry = 64;
        (writer.numbers.main, writer.numbers.stub) = (128, 8);
    });
    let (next, at) = successor(&world, number, &other);
    let record = manager.record(number).unwrap().read();
    let start = record.start_address;
    let placed = placement(number, &manager);
    assert_eq!(at, placed.image().start, "it has room where its predecessor is");
    let image = start + at;
    assert_eq!(manager.exchange(number, next), Err(Error::Busy), "it lives");
    assert_eq!(
        manager.make_successor(ONE, number, &Head::read(&head()).unwrap(), None),
        Err(Error::Busy.into()),
        "it has one"
    );
    let childless = manager.make_successor(TWO, number, &Head::read(&other).unwrap(), None);
    assert_eq!(childless, Err(Error::NotAllowed.into()));

    let stack = start + placed.stacks().nth(1).unwrap().start;
    let of_stack = world.page(number, stack);
    manager.allocate(number, 1).unwrap();
    end(&world, number);
    let method = manager.record.exports.iter().find(|one| one.instance() == number).unwrap();
    let method = manager.record.methods.get(method.read().first_method as usize).unwrap();
    for _ in 0..3 {
        assert_eq!(method.entry(), image + 16);
        manager.exchange(number, next).unwrap();
        begin(&world, number);
        let now = manager.record(number).unwrap().read();
        assert_eq!((now.main, now.stub, now.stack), (image + 128, image + 8, record.stack));
        assert_eq!(method.entry(), image + 64);
        assert_eq!(first_word(&world, number, image), Some(0x5000));
        assert_eq!(first_word(&world, number, start + STARTUP_OFFSET), Some(0x5000));
        assert_eq!(world.page(number, stack), of_stack, "stacks stay");
        // It dies as others do, and its data is as at first.
        let data = image + 4 * PAGE_SIZE;
        let (physical, _) = world.page(number, data).unwrap();
        world.word(physical).store(-1, Relaxed);
        end(&world, number);
        begin(&world, number);
        assert_eq!(first_word(&world, number, data), Some(0x5000));
        end(&world, number);
        manager.exchange(number, next).unwrap();
        begin(&world, number);
        assert_eq!(first_word(&world, number, image), Some(at as i64));
        end(&world, number);
    }
    manager.retire(next).unwrap();
    begin(&world, number);
    assert_eq!((state(&world).0, state(&world).2), (before.0, before.2), "nothing is left of it");

    // This time the predecessor goes.
    let (next, _) = successor(&world, number, &other);
    end(&world, number);
    manager.exchange(number, next).unwrap();
    manager.retire(next).unwrap();
    begin(&world, number);
    assert_eq!(first_word(&world, number, image), Some(0x5000));
    assert_eq!(manager.usage_of(number), Ok((13, MEMORY)));
    unload(&world, number);
    assert_eq!(world.used(ONE), first);
}

#[test]
fn a_larger_one_lies_behind_all_that_there_is() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let first = world.used(ONE);
    let number = loaded(&world);
    let larger = head_with(|writer| {
        writer.segments[2].0.offset = 98 * PAGE;
        (writer.numbers.image_size, writer.numbers.memory) = (100 * PAGE, 16 * PAGE_SIZE);
    });
    let read = Head::read(&larger).unwrap();
    let (next, at) = manager.make_successor(ONE, number, &read, None).unwrap();
    let record = manager.record(number).unwrap();
    assert!(at > placement(number, &manager).end());
    manager.retire(next).unwrap();
    let (next, at) = successor(&world, number, &larger);
    end(&world, number);
    manager.exchange(number, next).unwrap();
    manager.retire(next).unwrap();
    begin(&world, number);
    let start = record.start_address();
    assert_eq!(first_word(&world, number, start + at), Some(0x5000));
    assert_eq!(first_word(&world, number, start + placement(number, &manager).image().start), None);
    let page = manager.allocate(number, 1).unwrap();
    assert!(page >= start + at + 101 * PAGE_SIZE, "what it gets is behind its content");
    manager.kill(number).unwrap();
    steps(|cursor| manager.release(number, cursor));
    manager.retire(number).unwrap();
    assert_eq!(world.used(ONE), first);
}

#[test]
fn who_does_not_serve_the_same_is_no_successor() {
    let world = World::loading_in(3, 60);
    let manager = world.manager();
    let number = loaded(&world);
    let refused = |of: InstanceId, head: &[u8]| {
        manager.make_successor(ONE, of, &Head::read(head).unwrap(), None).map(drop)
    };
    let version = head_with(|writer| writer.exports[0].version += 1);
    assert_eq!(refused(number, &version), Err(SuccessorError::NotServed));
    let before = state(&world);
    assert_eq!(refused(number, &version), Err(SuccessorError::NotServed));
    let float = head_with(|writer| writer.numbers.float = 1);
    assert_eq!(refused(number, &float), Err(SuccessorError::FloatingPoint));
    let large = head_with(|writer| writer.numbers.heap = 9 << 20);
    assert_eq!(refused(number, &large), Err(SuccessorError::Region));
    assert_eq!(refused(InstanceId(5), &head()), Err(Error::NotFound.into()));
    let place = manager.record(number).unwrap();
    let record = place.read();
    place.write(&Instance { in_kernel: 1, ..record });
    assert_eq!(refused(number, &head()), Err(SuccessorError::InKernel));
    place.write(&record);
    let elsewhere = head_with(|writer| writer.numbers.portals_before = 3);
    assert_eq!(refused(number, &elsewhere), Err(SuccessorError::Portals));
    assert_eq!(state(&world), before);
}

#[test]
fn who_runs_to_completion_goes_on_until_its_successor_is_there_and_all_lead_to_it() {
    let world = World::loading_in(3, 120);
    let manager = world.manager();
    let number = loaded(&world);
    let other = head_with(|writer| {
        writer.methods[0].entry = 64;
        (writer.numbers.main, writer.numbers.stub) = (128, 8);
    });
    let (next, _) = successor(&world, number, &other);
    assert_eq!(manager.attach(number, next), Err(Error::NotSupported), "it can end");
    assert_eq!(manager.repoint(number, [].into_iter()), Err(Error::NotSupported), "it can end");
    manager.retire(next).unwrap();
    let place = manager.record(number).unwrap();
    place.set(offset_of!(Instance, run_to_completion), 1u16);
    let before = (state(&world).0, state(&world).2);
    let start = place.start_address();
    let own = placement(number, &manager).image().start;
    let method = manager.record.exports.iter().find(|one| one.instance() == number).unwrap();
    let method = manager.record.methods.get(method.read().first_method as usize).unwrap();
    let entry = method.entry();
    for _ in 0..2 {
        let (next, at) = successor(&world, number, &other);
        let image = |at: u64| first_word(&world, number, start + at);
        assert!(at > own, "beside what is there");
        assert_eq!((image(own), image(at)), (Some(own as i64), None));
        manager.attach(number, next).unwrap();
        assert_eq!((image(own), image(at)), (Some(own as i64), Some(0x5000)), "both");
        manager.repoint(number, [(1, 2), (entry, 0x77)].into_iter()).unwrap();
        assert_eq!(method.entry(), 0x77);
        // It refuses: as before.
        manager.repoint(number, [(0x77, entry)].into_iter()).unwrap();
        manager.attach(number, next).unwrap();
        assert_eq!((image(own), image(at), method.entry()), (Some(own as i64), None, entry));
        manager.retire(next).unwrap();
        assert_eq!((state(&world).0, state(&world).2), before);
    }
    let (next, at) = successor(&world, number, &other);
    assert_eq!(manager.attach(ONE, next), Err(Error::BadArgument), "it is another's");
    manager.attach(number, next).unwrap();
    manager.exchange(number, next).unwrap();
    let now = place.read();
    assert_eq!((now.main, now.stub), (start + at + 128, start + at + 8));
    assert_eq!(method.entry(), start + at + 64);
    manager.attach(number, next).unwrap();
    let image = |at: u64| first_word(&world, number, start + at);
    assert_eq!((image(own), image(at)), (None, Some(0x5000)), "the former is no more");
    manager.retire(next).unwrap();
    assert_eq!(image(at), Some(0x5000));
    // The next has room where the first was.
    let (_, back) = successor(&world, number, &other);
    assert_eq!(back, own);
}

/// A package that serves `more` exports beside, of so many methods each.
fn head_serving(more: &[(&str, u32)]) -> Vec<u8> {
    head_with(|writer| {
        for (called, methods) in more {
            let method = Method { entry: 48, ..writer.methods[0] };
            writer.methods.extend(std::iter::repeat_n(method, *methods as usize));
            let export = writer.exports[0];
            writer.exports.push(format::Export {
                name: name(called),
                method_count: *methods,
                ..export
            });
        }
    })
}

/// What an instance serves.
fn exports_of(manager: &Manager, of: InstanceId) -> impl Iterator<Item = Export> {
    let exports = manager.record.exports.iter().filter(move |one| one.instance() == of);
    exports.map(|one| one.read())
}

/// The same as the content of an instance.
fn exchange(world: &World, number: InstanceId, head: &[u8], is_back: bool) {
    let manager = world.manager();
    let (next, _) = successor(world, number, head);
    for _ in 0..=usize::from(is_back) {
        end(world, number);
        manager.exchange(number, next).unwrap();
        begin(world, number);
    }
    manager.retire(next).unwrap();
}

#[test]
fn what_only_one_of_both_serves_comes_and_goes_with_it() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let first = world.used(ONE);
    let number = loaded(&world);
    let start = manager.record(number).unwrap().start_address();
    let image = start + placement(number, &manager).image().start;
    let own = exports_of(&manager, number).count();
    let served = || {
        let exports = exports_of(&manager, number).skip(own);
        exports.map(|one| name_text(&one.name).to_owned()).collect::<Vec<_>>()
    };
    let of = |called: &str| exports_of(&manager, number).find(|one| one.name == name(called));
    let more = head_serving(&[("more", 2)]);
    let places = manager.record(number).unwrap();
    exchange(&world, number, &more, true);
    assert_eq!(served(), [""; 0], "it went back");
    exchange(&world, number, &more, false);
    assert_eq!(served(), ["more"]);
    let found = of("more").unwrap();
    assert_eq!((found.is_added, found.open), (1, of("store").unwrap().open));
    for place in 0..2 {
        let method = manager.record.methods.get((found.first_method + place) as usize).unwrap();
        assert_eq!((method.entry(), method.read().meanings_length), (image + 48, 0));
    }
    // By itself, by who does not have it, back from there, and again.
    exchange(&world, number, &more, false);
    exchange(&world, number, &head(), true);
    assert_eq!(served(), ["more"]);
    exchange(&world, number, &head(), false);
    assert_eq!(served(), [""; 0]);
    let count = places.read().export_count;
    exchange(&world, number, &head_serving(&[("other", 1)]), false);
    assert_eq!((served(), places.read().export_count), (vec!["other".into()], count));
    exchange(&world, number, &head_serving(&[("other", 1), ("more", 2)]), false);
    assert_eq!(served(), ["other", "more"]);
    unload(&world, number);
    assert_eq!(world.used(ONE), first);
}

#[test]
fn who_serves_more_than_there_is_room_for_is_no_successor() {
    let world = World::loading_in(3, 90);
    let manager = world.manager();
    let number = loaded(&world);
    assert_eq!(number, THREE);
    let own = exports_of(&manager, number).count();
    let names: Vec<String> = (0..10).map(|place| format!("more-{place}")).collect();
    let all = |methods: u32, from: usize| {
        let names = names[from..].iter().take(10 - own);
        names.map(|name| (name.as_str(), methods)).collect::<Vec<_>>()
    };
    exchange(&world, number, &head_serving(&all(1, 0)), false);
    assert_eq!(exports_of(&manager, number).count(), 10);
    let refused = |head: &[u8]| {
        let refused = manager.make_successor(ONE, THREE, &Head::read(head).unwrap(), None).err();
        assert_eq!(refused, Some(SuccessorError::Exports));
    };
    // Both would have to have more than ten.
    refused(&head_serving(&all(1, 1)));
    exchange(&world, number, &head(), false);
    // There is none with so many methods.
    refused(&head_serving(&[("large", 24)]));
    // A new number has all places again. One of the description may have those for its own alone.
    unload(&world, number);
    let number = loaded(&world);
    let place = manager.record.slots.get(number.index() - 1).unwrap();
    let slot = place.read();
    let own = Entries { count: own as u32, ..slot.exports };
    place.write(&Slot { exports: own, ..slot });
    refused(&head_serving(&[("large", 24)]));
    place.write(&slot);
    exchange(&world, number, &head_serving(&[("large", 24)]), false);
}
