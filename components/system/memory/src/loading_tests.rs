//! Instances that are loaded: what their memory becomes, and what a loader that lies achieves.

use crate::manager::Manager;
use crate::tables::{self, EXECUTE, GLOBAL, READ, USER, WRITE};
use crate::tests::loadable::SHELF;
use crate::tests::{ONE, QUOTA, TWO, World, region_of, steps};
use cairn_abi::address::*;
use cairn_abi::descriptor::{name, name_text};
use cairn_abi::loadable::{descriptor, stack_alias};
use cairn_abi::package::{self as format, Method, Segment};
use cairn_abi::record::*;
use cairn_abi::{Error, InstanceId};
use cairn_interfaces::SuccessorError;
use cairn_loader::package::{Head, Writer};
use cairn_loader::placement::{Placement, Wanted};
use core::sync::atomic::Ordering::Relaxed;
use std::hash::{DefaultHasher, Hash, Hasher};

mod beside;
mod forked;
mod guests;
mod inside;
mod paged;
mod pagers;
mod places;
mod random;
mod refused;
mod retired;
mod successor;

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

pub(crate) fn head() -> Vec<u8> {
    head_with(|_| ())
}

pub(crate) fn make(
    manager: &Manager,
    parent: InstanceId,
    name: &str,
    head: &[u8],
) -> Result<InstanceId, Error> {
    manager.make(parent, name, &Head::read(head).expect("a good head"))
}

pub(crate) fn placement(number: InstanceId, manager: &Manager) -> Placement {
    let wanted = Wanted {
        image: 6 * PAGE_SIZE,
        heap: PAGE_SIZE,
        stack: 2 * PAGE_SIZE,
        call_stack: PAGE_SIZE,
        call_stacks: 2,
        paged: 0,
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
    give_all_by(world, &world.manager(), number, |_| ());
}

/// The same, with what is done after each step.
pub(crate) fn give_all_by(
    world: &World,
    manager: &Manager,
    number: InstanceId,
    done: impl Fn(&str),
) {
    let image = placement(number, manager).image().start;
    for (offset, content) in [
        (image, CONTENT_TEXT),
        (image + PAGE_SIZE, CONTENT_TEXT),
        (image + 2 * PAGE_SIZE, CONTENT_CONSTANTS),
        (image + 4 * PAGE_SIZE, CONTENT_DATA),
        (STARTUP_OFFSET, CONTENT_CONSTANTS),
    ] {
        let from = manager.allocate(ONE, 1).unwrap();
        done("allocate of content");
        let (physical, _) = world.page(ONE, from).unwrap();
        let words = (0..512).map(|place| (physical + place * 8, offset as i64 + place as i64));
        words.for_each(|(at, word)| world.word(at).store(word, Relaxed));
        manager.give(ONE, number, (offset, from), 1, content).unwrap();
        done("give");
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
    give_all(&world, number);
    let start = manager.place(number).unwrap().start_address();
    assert_eq!(world.page(number, start + STARTUP_OFFSET), None, "nobody reaches it");
    manager.finish(number).unwrap();

    let record = manager.record(number).unwrap().read();
    let placed = placement(number, &manager);
    let image = start + placed.image().start;
    assert_eq!((name_text(&record.name), record.number, record.parent), ("valve", number, ONE));
    assert_eq!((record.priority, record.recovery_priority), (100, 10), "at most its parent's");
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
        manager.record.exports.part(places.exports).map(|one| one.read()).collect();
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
        assert_eq!(world.manager().usage_of(number), Err(Error::NotFound));
        // What words of methods mean is written over, not away.
        let state = state(&world);
        assert_eq!(*before.get_or_insert(state), state);
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
fn text_of_the_shelf_is_shared_and_costs_nothing() {
    let world = World::loading_in(2, 40);
    let manager = world.manager();
    let (free, shelf) = (world.free(), manager.header.shelf.start);
    let numbers = ["a", "b"].map(|name| {
        let number = make(&manager, ONE, name, &head()).unwrap();
        let image = placement(number, &manager).image().start;
        let text = region_of(ONE) + SHELF + PAGE_SIZE;
        manager.give(ONE, number, (image, text), 2, CONTENT_TEXT).unwrap();
        manager.give(ONE, number, (image + 2 * PAGE_SIZE, text), 1, CONTENT_CONSTANTS).unwrap();
        for (offset, content) in
            [(image + 4 * PAGE_SIZE, CONTENT_DATA), (STARTUP_OFFSET, CONTENT_CONSTANTS)]
        {
            let page = page_of(&world, ONE, 1);
            manager.give(ONE, number, (offset, page), 1, content).unwrap();
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
    assert_eq!(manager.record(third).unwrap().parent(), second);
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
    let text = [
        (image, CONTENT_TEXT),
        (image + PAGE_SIZE, CONTENT_TEXT),
        (STARTUP_OFFSET, CONTENT_CONSTANTS),
    ];
    for (offset, content) in text {
        let page = page_of(world, TWO, 1);
        manager.give(TWO, number, (offset, page), 1, content).unwrap();
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
