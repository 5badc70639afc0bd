//! Copies of instances that run, in private address spaces.

use super::*;
use cairn_abi::RegionId;
use cairn_abi::fork::Quotas;
use cairn_abi::startup::Startup;
use std::mem::offset_of;

const FOUR: InstanceId = InstanceId(4);
const QUOTAS: Quotas = Quotas { pages: 20, threads: 1, semaphores: 0, locks: 0, children: 0 };

/// A machine in which an instance was loaded that can have children, and one more page that it allocated.
fn parent() -> (World, u64) {
    let world = World::loading_in(4, 120);
    let head = head_with(|writer| {
        (writer.numbers.children, writer.numbers.memory) = (2, 60 * PAGE_SIZE);
    });
    assert_eq!(load(&world, ONE, "parent", &head), Ok(THREE));
    let page = world.manager().allocate(THREE, 1).unwrap();
    (world, page)
}

fn region_start(world: &World) -> u64 {
    world.manager().place(THREE).unwrap().start_address()
}

/// The stack pointer of the parent's first thread, somewhere in its stack.
fn stack(world: &World) -> u64 {
    world.manager().record(THREE).unwrap().read().stack - 128
}

fn fork(world: &World, name: &str, quotas: Quotas) -> Result<InstanceId, Error> {
    let begins = region_start(world) + 0x2_0000;
    world.manager().fork(THREE, name, (begins, stack(world)), quotas)
}

fn word(world: &World, of: InstanceId, address: u64) -> i64 {
    let (page, _) = world.page(of, address).expect("a page");
    world.word(page + address % PAGE_SIZE).load(Relaxed)
}

fn set(world: &World, of: InstanceId, address: u64, value: i64) {
    let (page, _) = world.page(of, address).expect("a page");
    world.word(page + address % PAGE_SIZE).store(value, Relaxed);
}

#[test]
fn the_same_addresses_lead_to_other_pages() {
    let (world, allocated) = parent();
    let manager = world.manager();
    let start = region_start(&world);
    let placed = placement(THREE, &manager);
    let image = start + placed.image().start;
    let (data, heap) = (image + 4 * PAGE_SIZE, start + placed.heap().start);
    let changed = [data, data + PAGE_SIZE + 8, heap, allocated, stack(&world)];
    changed.iter().zip(70..).for_each(|(at, value)| set(&world, THREE, *at, value));
    assert_eq!(fork(&world, "copy", QUOTAS), Ok(FOUR));
    for (at, value) in changed.into_iter().zip(70..) {
        assert_eq!(word(&world, FOUR, at), value);
        let [of_parent, of_copy] = [THREE, FOUR].map(|one| world.page(one, at).unwrap());
        assert_ne!(of_parent.0, of_copy.0, "{at:#x}");
        assert_eq!(of_parent.1, of_copy.1, "the same rights");
        set(&world, FOUR, at, -1);
        assert_eq!(word(&world, THREE, at), value, "the parent's is its own");
    }
    // What is executed, too, since nobody knows what becomes of the parent's.
    let text = [THREE, FOUR].map(|one| world.page(one, image).unwrap());
    assert!(text[0].0 != text[1].0 && text[0].1 == text[1].1);
    assert_eq!(word(&world, FOUR, image), word(&world, THREE, image));
    assert_eq!(
        word(&world, FOUR, image + 2 * PAGE_SIZE),
        word(&world, THREE, image + 2 * PAGE_SIZE)
    );
    // Stacks of calls are new.
    let calls = start + placed.stacks().nth(1).unwrap().end - 8;
    assert_eq!(word(&world, FOUR, calls), 0);
    let record = manager.record(FOUR).unwrap().read();
    assert_eq!((record.parent, record.start_address), (THREE, start));
    assert_eq!((record.stack, record.main), (stack(&world), start + 0x2_0000));
    let startup = start + STARTUP_OFFSET;
    let number = offset_of!(Startup, instance) as u64;
    assert_eq!(word(&world, FOUR, startup + number) as u32, 4 << 16 | 4);
    let run_time = startup + offset_of!(Startup, run_time_memory) as u64;
    assert_eq!(word(&world, FOUR, run_time), allocated as i64, "where that begins");
    assert_eq!(word(&world, FOUR, startup + offset_of!(Startup, generation) as u64), -1);
    // Its own region leads nowhere.
    assert_eq!(world.page(FOUR, region(RegionId(FOUR.0)) + STARTUP_OFFSET), None);
    // The kernel's view of its stacks.
    let own: Vec<_> =
        manager.record.activations.iter().filter(|one| one.instance() == FOUR).collect();
    assert_eq!(own.len(), 3);
    for (activation, stack) in own.iter().zip(placed.stacks()) {
        let [(_, top), _, _, (_, window)] = descriptor(&record, &activation.read());
        assert_eq!((top, window), (start + stack.end, start + Placement::windows(stack.end)));
        let (page, _) = world.page(FOUR, top - PAGE_SIZE).unwrap();
        assert_eq!(world.page(ONE, stack_alias(activation.index())), Some((page, READ | WRITE)));
    }
    // It gets and gives back memory as all do, what is copied too.
    let more = manager.allocate(FOUR, 1).unwrap();
    assert_eq!(world.page(THREE, more), None);
    manager.free(FOUR, allocated, 1).unwrap();
    assert!(world.page(THREE, allocated).is_some());
}

#[test]
fn a_copy_of_a_server_of_processes_is_none() {
    let (world, _) = parent();
    let startup = region_start(&world) + STARTUP_OFFSET;
    let spaces = startup + offset_of!(Startup, processes.pool.spaces) as u64;
    set(&world, THREE, spaces, 4);
    let place = world.manager().place(THREE).unwrap();
    place.write(&Instance { float: FLOAT_PROCESSES, ..place.read() });
    assert_eq!(fork(&world, "copy", QUOTAS), Ok(FOUR));
    assert_eq!(word(&world, FOUR, spaces), 0, "it is told so");
    assert_eq!(world.manager().record(FOUR).unwrap().read().float, FLOAT_OFF);
}

#[test]
fn copies_go_without_a_trace_whatever_comes_between() {
    let (world, _) = parent();
    let mut before = None;
    for round in 0..50 {
        // A copy of a copy, under the number behind.
        let quotas = Quotas { pages: 44, children: 1, ..QUOTAS };
        assert_eq!(fork(&world, "copy", quotas), Ok(FOUR));
        let begins = region_start(&world);
        let second = world.manager().fork(FOUR, "second", (begins, stack(&world)), QUOTAS);
        assert_eq!(second, Ok(InstanceId(5)));
        assert_eq!(world.manager().retire(FOUR), Err(Error::Busy), "it has a child");
        unload(&world, InstanceId(5));
        unload(&world, FOUR);
        // One with an address space as all others have comes under its number.
        if round % 2 == 0 {
            assert_eq!(load(&world, ONE, "plain", &head_with(|_| ())), Ok(FOUR));
            let record = world.manager().record(FOUR).unwrap().read();
            assert_eq!(record.start_address, region(RegionId(FOUR.0)));
            assert!(world.page(FOUR, region(RegionId(FOUR.0)) + STARTUP_OFFSET).is_some());
            unload(&world, FOUR);
        } else {
            let state = state(&world);
            assert_eq!(*before.get_or_insert(state), state);
        }
    }
}

#[test]
fn what_cannot_be_copied_leaves_nothing() {
    let (world, _) = parent();
    let before = state(&world);
    let start = region_start(&world);
    let placed = placement(THREE, &world.manager());
    let good = (start, stack(&world));
    let calls = start + placed.stacks().nth(1).unwrap().end - 64;
    for (who, name, (begins, stack), quotas, error) in [
        (ONE, "copy", (region_of(TWO), good.1), QUOTAS, Error::BadArgument),
        (THREE, "copy", (good.0, region_of(TWO)), QUOTAS, Error::BadArgument),
        (THREE, "copy", (good.0, good.1 + 8), QUOTAS, Error::BadArgument),
        (THREE, "copy", (good.0, calls), QUOTAS, Error::BadArgument),
        (THREE, "parent", good, QUOTAS, Error::Busy),
        (THREE, "a b", good, QUOTAS, Error::BadArgument),
        (THREE, "copy", good, Quotas { pages: 6, ..QUOTAS }, Error::Exhausted),
        (THREE, "copy", good, Quotas { pages: 61, ..QUOTAS }, Error::Exhausted),
        (THREE, "copy", good, Quotas { children: 2, ..QUOTAS }, Error::Exhausted),
        (TWO, "copy", good, QUOTAS, Error::NotAllowed),
        (FOUR, "copy", good, QUOTAS, Error::NotFound),
    ] {
        let made = world.manager().fork(who, name, (begins, stack), quotas);
        assert_eq!(made, Err(error), "{who:?} {name} {begins:#x} {stack:#x} {quotas:?}");
        assert_eq!(state(&world), before);
    }
}

#[test]
fn no_page_leaves_while_it_is_copied() {
    let (world, page) = parent();
    let manager = world.manager();
    let account = manager.account(THREE).unwrap();
    let busy = account.while_copied(|| {
        assert_eq!(manager.free(THREE, page, 1), Err(Error::Busy));
        manager.fork(THREE, "copy", (region_start(&world), stack(&world)), QUOTAS)
    });
    assert_eq!(busy, Err(Error::Busy));
    let busy = account.while_not_copied(|| fork(&world, "copy", QUOTAS));
    assert_eq!(busy, Err(Error::Busy));
    assert_eq!(manager.free(THREE, page, 1), Ok(()));
    assert_eq!(fork(&world, "copy", QUOTAS), Ok(FOUR));
}
