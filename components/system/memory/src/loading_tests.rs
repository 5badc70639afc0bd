//! Instances that are loaded: what their memory becomes, and what a loader that lies achieves.

use crate::manager::Manager;
use crate::tables::{self, EXECUTE, GLOBAL, READ, USER, WRITE};
use crate::tests::loadable::{SHELF, SHELF_PAGES};
use crate::tests::{ONE, QUOTA, TWO, World, behind, data, region_of, steps, window_slot};
use cairn_abi::address::*;
use cairn_abi::descriptor::{name, name_text};
use cairn_abi::domain::client_row;
use cairn_abi::loadable::{descriptor, stack_alias};
use cairn_abi::package::{self as format, Method, Segment};
use cairn_abi::record::*;
use cairn_abi::{Error, InstanceId};
use cairn_loader::package::{Head, Writer};
use cairn_loader::placement::{Placement, Wanted};
use core::sync::atomic::Ordering::Relaxed;
use std::hash::{DefaultHasher, Hash, Hasher};

const THREE: InstanceId = InstanceId(3);
const PAGE: u32 = PAGE_SIZE as u32;
/// Pages of the quota of [`writer`]'s component, of which its image has 5, its heap 1, its stacks 4, its startup page 1, and what
/// its data begins with 2.
const MEMORY: u64 = 15;

fn segment(offset: u32, pages: u32, content: u16, size: usize) -> (Segment, Vec<u8>) {
    let segment = Segment { offset, size: pages * PAGE, file_size: 0, content, reserved: 0 };
    (segment, vec![1; size])
}

fn writer() -> Writer {
    let mut writer = Writer::default();
    writer.segments = vec![
        segment(0, 2, CONTENT_TEXT, 5000),
        segment(2 * PAGE, 1, CONTENT_CONSTANTS, 64),
        segment(4 * PAGE, 2, CONTENT_DATA, 24),
    ];
    let none = writer.text(b"");
    let meanings = writer.text(b"1=Full");
    writer.methods = vec![Method {
        name: name("add"),
        letters: *b"ci\0\0\0\0\0\0\0\0\0\0",
        value: 1,
        entry: 16,
        meanings,
    }];
    let policy = writer.text(b"one nobody");
    let export = |called, policy, method_count| format::Export {
        name: name(called),
        interface: name("Store"),
        version: 5,
        longest_execution: 1_000_000,
        longest_call: 0,
        cancelled_for: 0,
        policy,
        method_count,
        is_object: 0,
    };
    writer.exports = vec![export("store", policy, 1), export("item", none, 0)];
    writer.numbers = format::Head {
        name: name("valve"),
        component: name("valves"),
        memory: MEMORY * PAGE_SIZE,
        heap: PAGE_SIZE,
        stack: 2 * PAGE_SIZE,
        call_stack: PAGE_SIZE,
        image_size: 6 * PAGE,
        main: 32,
        stub: 4,
        activations: 2,
        per_client: 1,
        threads: 1,
        semaphores: 1,
        priority: 100,
        recovery_priority: 100,
        restart: RESTART_ALWAYS as u8,
        ..format::Head::default()
    };
    writer
}

/// The head of the writer's package, changed.
fn head_with(change: impl Fn(&mut Writer)) -> Vec<u8> {
    let mut writer = writer();
    change(&mut writer);
    writer.finish().unwrap()
}

fn head() -> Vec<u8> {
    head_with(|_| ())
}

fn make(
    manager: &Manager,
    parent: InstanceId,
    name: &str,
    head: &[u8],
) -> Result<InstanceId, Error> {
    manager.make(parent, name, &Head::read(head).expect("a good head"))
}

fn placement(number: InstanceId, manager: &Manager) -> Placement {
    let wanted = Wanted {
        image: 6 * PAGE_SIZE,
        heap: PAGE_SIZE,
        stack: 2 * PAGE_SIZE,
        call_stack: PAGE_SIZE,
        call_stacks: 2,
    };
    Placement::new(&wanted, manager.place(number).unwrap().region())
}

/// A page of an instance's own with these words.
fn page_of(world: &World, owner: InstanceId, word: i64) -> u64 {
    let address = world.manager().allocate(owner, 1).unwrap();
    let (physical, _) = world.page(owner, address).unwrap();
    (0..512).for_each(|place| world.word(physical + place * 8).store(word + place as i64, Relaxed));
    address
}

/// Gives all content of the writer's package.
fn give_all(world: &World, number: InstanceId) {
    let manager = world.manager();
    let image = placement(number, &manager).image().start;
    for (offset, rights) in [
        (image, READ | EXECUTE),
        (image + PAGE_SIZE, READ | EXECUTE),
        (image + 2 * PAGE_SIZE, READ),
        (image + 4 * PAGE_SIZE, READ | WRITE),
        (STARTUP_OFFSET, READ),
    ] {
        let from = page_of(world, ONE, offset as i64);
        manager.give(ONE, number, (offset, from), 1, rights).unwrap();
        assert_eq!(world.page(ONE, from), None, "the loader reaches it no more");
    }
}

fn load(world: &World, parent: InstanceId, name: &str, head: &[u8]) -> Result<InstanceId, Error> {
    let number = make(&world.manager(), parent, name, head)?;
    give_all(world, number);
    world.manager().finish(number)?;
    Ok(number)
}

fn unload(world: &World, number: InstanceId) {
    let manager = world.manager();
    manager.kill(number).unwrap();
    steps(|cursor| manager.release(number, cursor));
    manager.retire(number).unwrap();
}

/// All that must be as before when nothing is left.
fn state(world: &World) -> (u64, usize, u64, u64) {
    let manager = world.manager();
    let record = manager.words(manager.header.record, manager.header.size);
    let mut hash = DefaultHasher::new();
    record.iter().for_each(|word| word.load(Relaxed).hash(&mut hash));
    (world.free(), world.state.tables.available(), world.used(ONE), hash.finish())
}

#[test]
fn a_package_becomes_an_instance() {
    let world = World::loading(2);
    let (free, used) = (world.free(), world.used(ONE));
    let manager = world.manager();
    let number = make(&manager, ONE, "valve", &head()).unwrap();
    assert_eq!(number, THREE);
    assert_eq!(world.used(ONE), used + MEMORY, "the parent pays for all that it may have");
    assert_eq!(manager.usage_of(number), Err(Error::NotFound), "it is not there yet");
    assert_eq!(manager.child_of(ONE, InstanceId(0)), Ok(number));
    give_all(&world, number);
    let start = manager.place(number).unwrap().start_address();
    assert_eq!(world.page(number, start + STARTUP_OFFSET), None, "nobody reaches it");
    manager.finish(number).unwrap();

    let record = manager.record(number).unwrap().read();
    let placed = placement(number, &manager);
    let image = start + placed.image().start;
    assert_eq!((name_text(&record.name), record.number, record.parent), ("valve", number, ONE));
    assert_eq!((record.main, record.stub, record.leader), (image + 32, image + 4, number));
    assert_eq!(record.stack, start + placed.stacks().next().unwrap().end);
    let content = |address: u64| {
        let (physical, rights) = world.page(number, address).unwrap();
        (world.word(physical).load(Relaxed), world.word(physical + 8).load(Relaxed), rights)
    };
    for (offset, rights) in [
        (0, READ | EXECUTE),
        (PAGE_SIZE, READ | EXECUTE),
        (2 * PAGE_SIZE, READ),
        (4 * PAGE_SIZE, READ | WRITE),
    ] {
        let first = (placed.image().start + offset) as i64;
        assert_eq!(content(image + offset), (first, first + 1, USER | rights));
    }
    assert_eq!(content(start + STARTUP_OFFSET).2, USER | READ);
    assert_eq!(world.page(number, image + 3 * PAGE_SIZE), None, "no segment");
    let zeros = [image + 5 * PAGE_SIZE, start + placed.heap().start];
    let stacks = placed.stacks().map(|stack| start + stack.start);
    for address in zeros.into_iter().chain(stacks) {
        assert_eq!(content(address), (0, 0, USER | READ | WRITE));
    }
    assert_eq!(world.page(number, start + LOG_OFFSET), Some((manager.header.no_log, USER | READ)));
    assert_eq!(manager.usage_of(number), Ok((13, MEMORY)), "data twice, with a list, zeros once");
    assert_eq!(manager.allocate(number, 3), Err(Error::Exhausted));
    let more = manager.allocate(number, 2).unwrap();
    assert_eq!(more, start + placed.end());
    assert_eq!(free - world.free(), MEMORY);

    // The stacks' descriptors, and what the kernel sees of them.
    let activations: Vec<_> = manager.record.activations.iter().map(|one| one.read()).collect();
    let own: Vec<_> = activations.iter().filter(|one| one.instance == number).collect();
    assert_eq!(own.len(), 3);
    for (activation, stack) in own.iter().zip(placed.stacks()) {
        assert_eq!((activation.queue, activation.client), (u32::MAX, InstanceId(0)));
        let [(_, top), _, (_, entry), (_, window)] = descriptor(&record, activation);
        assert_eq!((top, window), (start + stack.end, start + Placement::windows(stack.end)));
        assert_eq!(entry, activation.windows);
        let (page, _) = world.page(number, top - PAGE_SIZE).unwrap();
        let alias = stack_alias(activation.index);
        assert_eq!(world.page(ONE, alias), Some((page, READ | WRITE)), "all kernels have it");
        let root = manager.root(number).unwrap();
        let entry = manager.tables.find(root, alias).unwrap().load(Relaxed) as u64;
        assert_eq!(entry & (GLOBAL | USER), GLOBAL);
    }
    // The exports.
    let places = manager.places(number).unwrap();
    let exports: Vec<Export> =
        manager.record.exports.part(places.exports).map(|(_, one)| one.read()).collect();
    assert_eq!((record.first_export, record.export_count), (places.exports.first, 2));
    assert_eq!((name_text(&exports[0].name), exports[0].method_count), ("store", 1));
    assert_eq!((exports[0].open, exports[1].open), ([2, 0, 0, 0], [0; 4]));
    let method = manager.record.methods.get(exports[0].first_method as usize).unwrap().read();
    assert_eq!((name_text(&method.name), method.entry), ("add", image + 16));
    let text: Vec<u8> = (0..u64::from(method.meanings_length))
        .map(|at| {
            let at = u64::from(method.meanings) + at;
            manager.record.text[(at / 8) as usize].load(Relaxed).to_le_bytes()[(at % 8) as usize]
        })
        .collect();
    assert_eq!(text, b"1=Full");
}

#[test]
fn it_goes_without_a_trace_again_and_again() {
    let world = World::loading(2);
    let mut before = None;
    for round in 0..300 {
        let number = load(&world, ONE, "valve", &head()).unwrap();
        assert_eq!(number, THREE);
        world.manager().allocate(number, 1 + round % 2).unwrap();
        unload(&world, number);
        assert_eq!(world.manager().child_of(ONE, InstanceId(0)), Err(Error::NotFound));
        assert_eq!(world.manager().usage_of(number), Err(Error::NotFound));
        // What words of methods mean is written over, not away.
        let state = state(&world);
        assert_eq!(*before.get_or_insert(state.clone()), state);
    }
}

#[test]
fn a_restart_finds_what_was_loaded() {
    let world = World::loading(1);
    let number = load(&world, ONE, "valve", &head()).unwrap();
    let manager = world.manager();
    let placed = placement(number, &manager);
    let start = manager.place(number).unwrap().start_address();
    let data = start + placed.image().start + 4 * PAGE_SIZE;
    let heap = start + placed.heap().start;
    let words = |address: u64| {
        let (physical, _) = world.page(number, address).unwrap();
        (0..512u64).map(move |place| physical + place * 8)
    };
    let content =
        |address| words(address).map(|at| world.word(at).load(Relaxed)).collect::<Vec<_>>();
    let before = [content(data), content(data + PAGE_SIZE), content(heap)];
    for address in [data, data + PAGE_SIZE, heap] {
        words(address).for_each(|at| world.word(at).store(-7, Relaxed));
    }
    manager.allocate(number, 1).unwrap();
    manager.kill(number).unwrap();
    assert_eq!(manager.retire(number), Err(Error::Busy), "it has a page");
    steps(|cursor| manager.release(number, cursor));
    steps(|cursor| manager.renew(number, cursor, false));
    manager.revive(number).unwrap();
    assert_eq!(before, [content(data), content(data + PAGE_SIZE), content(heap)]);
    // How much is used is found page by page.
    let top = start + placed.stacks().next().unwrap().end;
    let (page, _) = world.page(number, top - PAGE_SIZE).unwrap();
    world.word(page + PAGE_SIZE - 64).store(1, Relaxed);
    let (mut at, mut parts) = (0, Vec::new());
    while let Ok(measured) = manager.measure(number, at) {
        assert!(measured.next > at);
        at = measured.next;
        parts.extend(
            measured
                .content
                .filter(|_| measured.size > 0)
                .map(|content| (content, measured.size / PAGE_SIZE, measured.used)),
        );
    }
    let expected = [
        (CONTENT_TEXT, 2, 2 * PAGE_SIZE),
        (CONTENT_CONSTANTS, 1, PAGE_SIZE),
        (CONTENT_DATA, 2, 2 * PAGE_SIZE),
        (CONTENT_HEAP, 1, 0),
        (CONTENT_STACK, 2, 64),
        (CONTENT_CLIENT_STACK, 1, 0),
        (CONTENT_CLIENT_STACK, 1, 0),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn only_pages_of_the_givers_own_and_of_the_shelf_are_given() {
    let world = World::loading(1);
    let manager = world.manager();
    let number = make(&manager, ONE, "valve", &head()).unwrap();
    let image = placement(number, &manager).image().start;
    let state = || (world.free(), world.used(ONE));
    let (own, twos) = (page_of(&world, ONE, 1), page_of(&world, TWO, 1));
    let before = state();
    let give = |to: u64, from: u64, pages: u64, rights: u64| {
        manager.give(ONE, number, (to, from), pages, rights)
    };
    let text = READ | EXECUTE;
    for (what, to, from, pages, rights, error) in [
        ("another's", image, twos, 1, text, Error::BadArgument),
        ("of the layout", image, data(ONE), 1, text, Error::BadArgument),
        ("the startup page", image, region_of(ONE) + STARTUP_OFFSET, 1, text, Error::BadArgument),
        ("nothing", image, own + PAGE_SIZE, 1, text, Error::NotAllowed),
        ("one too many", image, own, 2, text, Error::NotAllowed),
        ("the kernel's", image, PAGE_TABLES, 1, text, Error::BadArgument),
        ("none", image, own, 0, text, Error::BadArgument),
        ("all", image, own, u64::MAX, text, Error::BadArgument),
        ("not a page", image + 8, own, 1, text, Error::BadArgument),
        ("not a page", image, own + 8, 1, text, Error::BadArgument),
        ("before the image", image - PAGE_SIZE, own, 1, text, Error::BadArgument),
        ("between segments", image + 3 * PAGE_SIZE, own, 1, READ, Error::BadArgument),
        ("beyond the region", u64::MAX - 4095, own, 1, READ, Error::BadArgument),
        ("over two segments", image + PAGE_SIZE, own, 2, text, Error::BadArgument),
        ("writable code", image, own, 1, text | WRITE, Error::BadArgument),
        ("code as data", image, own, 1, READ | WRITE, Error::BadArgument),
        ("data as code", image + 4 * PAGE_SIZE, own, 1, text, Error::BadArgument),
        ("where zeros are", image + 5 * PAGE_SIZE, own, 1, READ | WRITE, Error::Busy),
        (
            "a stack",
            placement(number, &manager).stacks().next().unwrap().start,
            own,
            1,
            READ | WRITE,
            Error::BadArgument,
        ),
        ("a startup page to write", STARTUP_OFFSET, own, 1, READ | WRITE, Error::BadArgument),
        ("the log", LOG_OFFSET, own, 1, READ, Error::BadArgument),
        (
            "data of the shelf",
            image + 4 * PAGE_SIZE,
            region_of(ONE) + SHELF,
            1,
            READ | WRITE,
            Error::NotAllowed,
        ),
        (
            "more than the shelf",
            image,
            region_of(ONE) + SHELF + (SHELF_PAGES - 1) * PAGE_SIZE,
            2,
            text,
            Error::NotAllowed,
        ),
    ] {
        assert_eq!(give(to, from, pages, rights), Err(error), "{what}");
        assert_eq!(state(), before, "{what}");
        assert!(world.page(ONE, own).is_some() && world.page(TWO, twos).is_some());
    }
    for nobody in [0, 2, 4, 300].map(InstanceId) {
        assert!(manager.give(ONE, nobody, (image, own), 1, text).is_err());
        assert!(manager.finish(nobody).is_err() && manager.retire(nobody).is_err());
    }
    // In a window.
    let slot = manager.tables.find(manager.root(TWO).unwrap(), window_slot(TWO)).unwrap();
    tables::map_over(slot, world.page(ONE, own).unwrap().0, USER | READ);
    assert_eq!(give(image, own, 1, text), Err(Error::Busy));
    assert!(world.page(ONE, own).is_some());
    tables::unmap(slot);
    give(image, own, 1, text).unwrap();
    let again = page_of(&world, ONE, 1);
    assert_eq!(give(image, again, 1, text), Err(Error::Busy), "there is content");
    assert_eq!(manager.finish(number), Err(Error::BadArgument), "content is missing");
    manager.retire(number).unwrap();
    manager.free(ONE, again, 1).unwrap();
    assert_eq!(world.used(ONE), before.1 - 1 - MEMORY);
}

#[test]
fn text_of_the_shelf_is_shared_and_costs_nothing() {
    let world = World::loading_in(2, 40);
    let manager = world.manager();
    let (free, shelf) = (world.free(), manager.header.shelf.start);
    let numbers = ["a", "b"].map(|name| {
        let number = make(&manager, ONE, name, &head()).unwrap();
        let image = placement(number, &manager).image().start;
        let text = region_of(ONE) + SHELF + PAGE_SIZE;
        manager.give(ONE, number, (image, text), 2, READ | EXECUTE).unwrap();
        manager.give(ONE, number, (image + 2 * PAGE_SIZE, text), 1, READ).unwrap();
        for (offset, rights) in [(image + 4 * PAGE_SIZE, READ | WRITE), (STARTUP_OFFSET, READ)] {
            let page = page_of(&world, ONE, 1);
            manager.give(ONE, number, (offset, page), 1, rights).unwrap();
        }
        manager.finish(number).unwrap();
        assert_eq!(manager.usage_of(number), Ok((10, MEMORY)));
        let start = manager.place(number).unwrap().start_address();
        let page = world.page(number, start + image + PAGE_SIZE);
        assert_eq!(page, Some((shelf + 2 * PAGE_SIZE, USER | READ | EXECUTE)));
        number
    });
    numbers.into_iter().for_each(|number| unload(&world, number));
    assert_eq!(world.free(), free);
    assert_eq!(world.word(shelf + PAGE_SIZE).load(Relaxed), 0x5e1f + 1);
}

#[test]
fn children_live_in_the_quota_of_their_parents_to_any_depth() {
    let world = World::loading(4);
    let manager = world.manager();
    let nothing = state(&world);
    let with = |memory: u64, children: u32| {
        head_with(|writer| {
            (writer.numbers.memory, writer.numbers.children) = (memory * PAGE_SIZE, children);
        })
    };
    // One has 17 pages beside those of the layout.
    assert_eq!(QUOTA, 20);
    assert_eq!(make(&manager, ONE, "much", &with(18, 0)), Err(Error::Exhausted));
    assert_eq!(make(&manager, ONE, "many", &with(14, 4)), Err(Error::Exhausted));
    assert_eq!(make(&manager, TWO, "none", &head()), Err(Error::NotAllowed));
    for nobody in [0, 3, 300].map(InstanceId) {
        assert_eq!(make(&manager, nobody, "orphan", &head()), Err(Error::NotFound));
    }
    assert_eq!(state(&world), nothing);
    let small = head_with(|writer| {
        writer.numbers.memory = 10 * PAGE_SIZE;
        writer.segments.truncate(1);
        writer.numbers.image_size = 2 * PAGE;
        (writer.numbers.heap, writer.numbers.activations) = (0, 0);
    });
    // A world in which the parent's quota holds more.
    let world = World::loading_in(4, 40);
    let manager = world.manager();
    // What words of methods mean is written over, not away.
    for _ in 0..2 {
        let numbers = ["a", "b", "c"].map(|name| load_small(&world, ONE, name, &small));
        numbers.into_iter().for_each(|number| unload(&world, number));
    }
    let nothing = state(&world);
    let first = load_small(
        &world,
        ONE,
        "first",
        &head_with(|writer| {
            small_parts(writer);
            (writer.numbers.memory, writer.numbers.children) = (35 * PAGE_SIZE, 3);
        }),
    );
    assert_eq!(
        make(&manager, ONE, "second", &small),
        Err(Error::Exhausted),
        "all children are its"
    );
    let second = load_small(
        &world,
        first,
        "second",
        &head_with(|writer| {
            small_parts(writer);
            (writer.numbers.memory, writer.numbers.children) = (24 * PAGE_SIZE, 1);
        }),
    );
    let third = load_small(&world, second, "third", &small);
    assert_eq!(make(&manager, second, "fourth", &small), Err(Error::Exhausted));
    assert_eq!(make(&manager, third, "fourth", &small), Err(Error::NotAllowed));
    assert_eq!(manager.child_of(first, InstanceId(0)), Ok(second));
    assert_eq!(manager.child_of(first, InstanceId(second.0 + 1)), Err(Error::NotFound));
    assert_eq!(manager.usage_of(first), Ok((5 + 24, 35)));
    assert_eq!(manager.usage_of(second), Ok((5 + 10, 24)));
    // What a child has its parent cannot take.
    assert_eq!(manager.allocate(first, 7), Err(Error::Exhausted));
    manager.kill(second).unwrap();
    steps(|cursor| manager.release(second, cursor));
    assert_eq!(manager.retire(second), Err(Error::Busy), "it has a child");
    for number in [third, second, first] {
        unload(&world, number);
    }
    assert_eq!(state(&world), nothing);
}

/// A component of two pages of text and a stack of two.
fn small_parts(writer: &mut Writer) {
    writer.segments.truncate(1);
    writer.numbers.image_size = 2 * PAGE;
    (writer.numbers.heap, writer.numbers.activations) = (0, 0);
}

fn load_small(world: &World, parent: InstanceId, name: &str, head: &[u8]) -> InstanceId {
    let manager = world.manager();
    let number = make(&manager, parent, name, head).unwrap();
    let image = placement(number, &manager).image().start;
    let text =
        [(image, READ | EXECUTE), (image + PAGE_SIZE, READ | EXECUTE), (STARTUP_OFFSET, READ)];
    for (offset, rights) in text {
        let page = page_of(world, TWO, 1);
        manager.give(TWO, number, (offset, page), 1, rights).unwrap();
    }
    manager.finish(number).unwrap();
    number
}

#[test]
fn names_are_of_one_and_can_be_said() {
    let world = World::loading(2);
    let manager = world.manager();
    let nothing = state(&world);
    assert_eq!(make(&manager, ONE, "one", &head()), Err(Error::Busy), "the layout's");
    for bad in ["", "a.b", "a b", "\n", &"x".repeat(32), "\u{e9}"] {
        assert_eq!(make(&manager, ONE, bad, &head()), Err(Error::BadArgument), "{bad}");
    }
    assert_eq!(state(&world), nothing);
    let number = make(&manager, ONE, &"x".repeat(31), &head()).unwrap();
    assert_eq!(make(&manager, ONE, &"x".repeat(31), &head()), Err(Error::Busy));
    manager.retire(number).unwrap();
    let number = make(&manager, ONE, &"x".repeat(31), &head()).unwrap();
    manager.retire(number).unwrap();
}

#[test]
fn what_is_too_large_for_a_number_is_refused() {
    let world = World::loading(1);
    let manager = world.manager();
    let nothing = state(&world);
    for (what, head) in [
        ("stacks", head_with(|writer| writer.numbers.activations = 8)),
        (
            "heap",
            head_with(|writer| {
                (writer.numbers.memory, writer.numbers.heap) = (9 << 20, 8 << 20);
            }),
        ),
        (
            "methods",
            head_with(|writer| {
                let method = writer.methods[0];
                writer.methods = vec![method; 72];
                let export = writer.exports[0];
                writer.exports = vec![export; 3];
                for (export, called) in writer.exports.iter_mut().zip(["a", "b", "c"]) {
                    (export.name, export.method_count) = (name(called), 24);
                }
            }),
        ),
    ] {
        assert_eq!(make(&manager, ONE, "large", &head), Err(Error::TooLarge), "{what}");
        assert_eq!(state(&world), nothing, "{what}");
    }
    // What it must have at once is more than its quota.
    let head = head_with(|writer| writer.numbers.memory = 4 * PAGE_SIZE);
    assert_eq!(make(&manager, ONE, "poor", &head), Err(Error::Exhausted));
    assert_eq!(world.used(ONE), nothing.2);
    assert_eq!(world.free(), nothing.0);
}

#[test]
fn whatever_fails_all_is_as_before() {
    // Without a page more at each place where one is taken.
    for pages in 0..20 {
        let world = World::loading(1);
        let taken: Vec<usize> = core::iter::from_fn(|| {
            (world.state.frames.available() > pages).then(|| world.state.frames.take().unwrap())
        })
        .collect();
        let (free, used) = (world.free(), world.used(ONE));
        let manager = world.manager();
        if let Ok(number) = make(&manager, ONE, "valve", &head()) {
            let image = placement(number, &manager).image().start;
            for (offset, rights) in [
                (image, READ | EXECUTE),
                (image + PAGE_SIZE, READ | EXECUTE),
                (image + 2 * PAGE_SIZE, READ),
                (image + 4 * PAGE_SIZE, READ | WRITE),
                (STARTUP_OFFSET, READ),
            ] {
                let Ok(page) = manager.allocate(ONE, 1) else { continue };
                let (physical, _) = world.page(ONE, page).unwrap();
                world.word(physical).store(1, Relaxed);
                // Its parent's quota may be used up.
                if manager.give(ONE, number, (offset, page), 1, rights).is_err() {
                    manager.free(ONE, page, 1).unwrap();
                }
            }
            let _ = manager.finish(number);
            if manager.usage_of(number).is_ok() {
                manager.kill(number).unwrap();
            }
            manager.retire(number).unwrap();
        }
        assert_eq!((world.free(), world.used(ONE)), (free, used), "{pages}");
        taken.into_iter().for_each(|number| world.state.frames.give(number));
        assert_eq!(load(&world, ONE, "valve", &head()), Ok(THREE), "{pages}");
    }
}

/// Whatever passes the reader.
#[test]
fn hostile_heads_make_nothing_that_does_not_go() {
    let world = World::loading(2);
    let good = head();
    let nothing = (world.free(), world.used(ONE));
    let mut random = cairn_random::Random::new(14);
    let mut made = 0;
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        let size = u32::from_le_bytes(bytes[44..48].try_into().unwrap()) as usize;
        for _ in 0..1 + random.next() % 3 {
            let at = random.next() as usize % size;
            bytes[at] = if random.next() % 2 == 0 {
                random.next() as u8
            } else {
                bytes[at] ^ (1 << (random.next() % 8))
            };
        }
        let Ok(head) = Head::read(&bytes) else { continue };
        let manager = world.manager();
        if let Ok(number) = manager.make(ONE, "hostile", &head) {
            made += 1;
            let record = manager.place(number).unwrap().read();
            for place in [record.stub, record.stack] {
                assert!((place ^ record.start_address) < REGION_SIZE);
            }
            let _ = manager.finish(number);
            manager.retire(number).unwrap();
        }
        assert_eq!((world.free(), world.used(ONE)), nothing);
    }
    assert!(made > 1000, "{made}");
    assert_eq!(load(&world, ONE, "valve", &good), Ok(THREE));
}

#[test]
fn an_instance_of_the_description_goes_too() {
    let world = World::loading(1);
    let manager = world.manager();
    let free = world.free();
    manager.allocate(TWO, 2).unwrap();
    assert_eq!(manager.retire(TWO), Err(Error::Busy), "it lives");
    manager.kill(TWO).unwrap();
    assert_eq!(manager.retire(TWO), Err(Error::Busy), "it has pages");
    steps(|cursor| manager.release(TWO, cursor));
    manager.retire(TWO).unwrap();
    // Its data, what that began with, its stack, and its startup page.
    assert_eq!(world.free(), free + 4);
    assert_eq!(manager.usage_of(TWO), Err(Error::NotFound));
    assert!(!manager.place(TWO).unwrap().is_there());
    assert!(manager.record.segments.iter().all(|one| one.instance() != TWO));
    assert!(
        manager.record.activations.iter().all(|one| one.instance() != TWO && one.client() != TWO)
    );
    let portal = manager.record.portals.get(0).unwrap().read();
    assert_eq!((portal.client, portal.export, portal.code), (TWO, u32::MAX, 0));
    let open: Vec<_> = manager.record.exports.iter().map(|one| one.read().open[0]).collect();
    assert_eq!(open[0], 1 << ONE.0, "it was admitted, and may be no more");
    // The portal manager took its stacks from their clients before.
    world.word(manager.header.clients + client_row(ONE.into())).store(0, Relaxed);
    // Its pages are another's when all others are taken.
    while world.state.frames.take().is_some() {}
    let before = world.free();
    let page = manager.allocate(ONE, 1).unwrap();
    assert_eq!(world.free(), before - 1);
    let (physical, _) = world.page(ONE, page).unwrap();
    assert!((0..512).all(|word| world.word(physical + word * 8).load(Relaxed) == 0), "a secret");
    manager.free(ONE, page, 1).unwrap();
    assert_eq!(world.free(), before);
    assert_eq!(behind(ONE), page);
    assert_eq!(manager.make(ONE, "valve", &Head::read(&head()).unwrap()), Err(Error::Exhausted));
}

#[test]
fn who_ends_the_system_or_has_devices_or_fellows_stays() {
    let world = World::loading(1);
    let manager = world.manager();
    manager.kill(TWO).unwrap();
    let change = |change: &dyn Fn(&mut Instance)| {
        let place = manager.place(TWO).unwrap();
        let mut record = place.read();
        change(&mut record);
        place.write(&record);
        manager.retire(TWO)
    };
    assert_eq!(change(&|one| one.essential = 1), Err(Error::NotAllowed));
    let completes = |one: &mut Instance| (one.essential, one.run_to_completion) = (0, 1);
    assert_eq!(change(&completes), Err(Error::NotAllowed));
    let follows = |one: &mut Instance| (one.run_to_completion, one.leader) = (0, ONE);
    assert_eq!(change(&follows), Err(Error::NotSupported));
    let leads = |one: &mut Instance| (one.leader, one.next_fellow) = (TWO, ONE);
    assert_eq!(change(&leads), Err(Error::NotSupported));
    assert_eq!(change(&|one| one.next_fellow = InstanceId(0)), Ok(()));
}
