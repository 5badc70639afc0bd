//! How much of heaps and stacks was used, by what is not zero in them.

use crate::measure::Measured;
use crate::tests::{ONE, QUOTA, TWO, World};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::memory::stack_mark;
use cairn_abi::record::{CONTENT_DATA, CONTENT_HEAP, CONTENT_STACK, CONTENT_THREAD_STACK};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

const WORDS: usize = (PAGE_SIZE / 8) as usize;

/// All parts, and how many steps they took.
fn parts(world: &World, instance: InstanceId) -> (Vec<(Option<u16>, u64, u64)>, usize) {
    let (mut parts, mut steps, mut at) = (Vec::new(), 0, 0);
    loop {
        match world.manager().measure(instance, at) {
            Ok(Measured { next, content, size, used }) => {
                assert!(next > at, "it gets on");
                steps += 1;
                at = next;
                // Pages that it got may be none.
                if size > 0 || content.is_none() {
                    parts.push((content, size, used));
                }
            }
            Err(error) => {
                assert_eq!(error, Error::NotFound);
                return (parts, steps);
            }
        }
    }
}

#[test]
fn stacks_are_used_from_their_ends_down_and_heaps_from_their_beginnings_up() {
    let mut world = World::new();
    // A larger stack, where pages are free.
    let free = world.free_memory();
    world.segments[1].content = CONTENT_STACK;
    world.segments[1].physical = free;
    world.segments[1].size = 9 * PAGE_SIZE;
    let clear = |world: &World| {
        let words = world.manager().words(free, 9 * PAGE_SIZE);
        words.iter().for_each(|word| word.store(0, Relaxed));
    };
    clear(&world);
    let used = |content: u16, world: &World| {
        let (parts, _) = parts(world, ONE);
        assert_eq!(parts[0], (Some(CONTENT_DATA), PAGE_SIZE, PAGE_SIZE));
        assert_eq!((parts[1].0, parts[1].1, parts.len()), (Some(content), 9 * PAGE_SIZE, 3));
        parts[1].2
    };
    assert_eq!(used(CONTENT_STACK, &world), 0);
    for place in [9 * WORDS - 1, 9 * WORDS - 2, 5 * WORDS + 7, 4 * WORDS, 4 * WORDS - 1, 1, 0] {
        world.manager().words(free, 9 * PAGE_SIZE)[place].store(1, Relaxed);
        assert_eq!(used(CONTENT_STACK, &world), ((9 * WORDS - place) * 8) as u64, "{place}");
    }
    // 16 KiB of 36 are looked at in a step: two steps more than there are parts.
    clear(&world);
    assert_eq!(parts(&world, ONE).1, 3 + 2);

    world.segments[1].content = CONTENT_HEAP;
    // What an allocator marks the end with does not count.
    world.manager().words(free, 9 * PAGE_SIZE)[9 * WORDS - 4].store(1, Relaxed);
    assert_eq!(used(CONTENT_HEAP, &world), 0);
    for place in [0, 1, 4 * WORDS, 5 * WORDS - 5, 5 * WORDS - 4, 9 * WORDS - 5] {
        world.manager().words(free, 9 * PAGE_SIZE)[place].store(1, Relaxed);
        assert_eq!(used(CONTENT_HEAP, &world), (place as u64 + 1) * 8, "{place}");
    }
}

#[test]
fn stacks_that_threads_were_started_on_are_found_in_data() {
    let mut world = World::new();
    let free = world.free_memory();
    for (place, pages) in [(0, 9), (1, 1)] {
        let segment = &mut world.segments[place];
        segment.content = CONTENT_DATA;
        segment.physical = free + if place == 0 { 0 } else { 9 * PAGE_SIZE };
        segment.size = pages * PAGE_SIZE;
    }
    let address = world.segments[0].address;
    let store = |world: &World, word: usize, value: u64| {
        world.manager().words(free, 10 * PAGE_SIZE)[word].store(value as i64, Relaxed);
    };
    let mark = |world: &World, word: usize, size: u64| {
        store(world, word, stack_mark(address + word as u64 * 8));
        store(world, word + 1, size);
    };
    let data = [(Some(CONTENT_DATA), 9 * PAGE_SIZE), (Some(CONTENT_DATA), PAGE_SIZE)];
    let found = |world: &World| -> Vec<_> {
        let (mut parts, _) = parts(world, ONE);
        assert_eq!(parts.pop().map(|part| part.0), Some(None));
        let is_data = |part: &&(Option<u16>, u64, u64)| part.0 == Some(CONTENT_DATA);
        let all: Vec<_> = parts.iter().filter(is_data).map(|part| (part.0, part.1)).collect();
        assert_eq!(all, data, "whatever stands there");
        parts.retain(|part| part.0 == Some(CONTENT_THREAD_STACK));
        parts.iter().map(|part| (part.1, part.2)).collect()
    };
    (0..10 * WORDS).for_each(|word| store(&world, word, 0));
    assert_eq!(found(&world), []);
    // Across the end of a step, and longer than one.
    mark(&world, 2047, 2200 * 8);
    assert_eq!(found(&world), [(2200 * 8, 0)]);
    store(&world, 2049 + 2199, 1);
    store(&world, 2049 + 2100, 1);
    assert_eq!(found(&world), [(2200 * 8, 100 * 8)]);
    store(&world, 2049, 1);
    // Across the end of the segment.
    let last = 9 * WORDS - 10;
    mark(&world, last, 100 * 8);
    store(&world, last + 2 + 60, 1);
    assert_eq!(found(&world), [(2200 * 8, 2200 * 8), (100 * 8, 40 * 8)]);
    // What is none.
    for size in [0, 4, 100 * 8 + 1, (WORDS as u64 + 9) * 8, u64::MAX, 1 << 63] {
        mark(&world, last, size);
        assert_eq!(found(&world).len(), 1, "{size:#x}");
    }
    mark(&world, last, 100 * 8);
    store(&world, last, stack_mark(address));
    assert_eq!(found(&world).len(), 1, "it is another place's");
}

#[test]
fn what_was_got_at_run_time_comes_last() {
    let world = World::new();
    world.manager().allocate(ONE, 3).unwrap();
    let last = |instance| parts(&world, instance).0.last().copied();
    let limit = world.manager().account(ONE).unwrap().said().limit;
    let limit = u64::from(limit) * PAGE_SIZE;
    assert!(limit <= QUOTA * PAGE_SIZE);
    assert_eq!(last(ONE), Some((None, limit, 3 * PAGE_SIZE)));
    assert_eq!(last(TWO), Some((None, limit, 0)));
}

#[test]
fn any_place_to_begin_is_answered() {
    let world = World::new();
    assert_eq!(world.manager().measure(InstanceId(3), 0), Err(Error::NotFound));
    for at in [1, u64::MAX, u64::MAX << 32, 1 << 32 | 0xffff_ffff, 1 << 63, 3 << 32, 2 << 32 | 9] {
        match world.manager().measure(ONE, at) {
            Ok(part) => assert!(part.used <= part.size.max(QUOTA * PAGE_SIZE), "{at:#x}: {part:?}"),
            Err(error) => assert_eq!(error, Error::NotFound),
        }
    }
}
