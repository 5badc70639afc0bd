//! How much of heaps and stacks was used, by what is not zero in them.

use crate::measure::Measured;
use crate::tests::{ONE, QUOTA, TWO, World};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::record::{CONTENT_DATA, CONTENT_HEAP, CONTENT_STACK};
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
