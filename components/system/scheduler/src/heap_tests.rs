use super::*;
use crate::classes::ROUGHLY;
use crate::thread::{IDLE, Threads};
use crate::time::{ByTimeLimit, first_before, passed};
use proptest::prelude::*;
extern crate std;
use std::{boxed::Box, vec::Vec};

/// Checks order and places below `node`; returns how many threads there are.
fn check<O: Order<Item = Thread>>(threads: &Threads, node: u8, prefix: u64, depth: u32) -> usize {
    if node == IDLE {
        return 0;
    }
    assert!(depth <= O::BITS, "a way is too long");
    let thread = &threads[node as usize];
    let place = O::place(node, thread);
    assert_eq!(place.checked_shr(64 - depth).unwrap_or(0), prefix, "a place on the wrong side");
    let mut count = 1;
    for (side, below) in O::links(thread).below.into_iter().enumerate() {
        assert!(below == IDLE || O::key(thread) <= O::key(&threads[below as usize]));
        count += check::<O>(threads, below, prefix << 1 | side as u64, depth + 1);
    }
    count
}

proptest! {
    #[test]
    fn agrees_with_a_sorted_list(steps in prop::collection::vec((any::<u8>(), 0u64..40), 1..900)) {
        let mut threads = Box::new([Thread::FREE; 256]);
        let mut root = IDLE;
        let mut model: Vec<(u64, ThreadIndex)> = Vec::new();
        for (sequence, (thread, key)) in steps.into_iter().enumerate() {
            if thread == IDLE {
                // Take the first.
                if let Some(&(_, first)) = model.iter().min() {
                    prop_assert_eq!(root, first);
                    model.retain(|entry| entry.1 != first);
                    remove::<ByWaitKey>(&mut threads, &mut root, first);
                }
            } else if let Some(place) = model.iter().position(|entry| entry.1 == thread) {
                model.remove(place);
                remove::<ByWaitKey>(&mut threads, &mut root, thread);
            } else {
                // Distinct keys, as the scheduler's sequence numbers make them.
                let key = key << 32 | sequence as u64;
                threads[thread as usize].wait_key = key;
                model.push((key, thread));
                insert::<ByWaitKey>(&mut threads, &mut root, thread);
            }
            prop_assert_eq!(check::<ByWaitKey>(&threads, root, 0, 0), model.len());
            prop_assert_eq!(threads[IDLE as usize].wait, Links::EMPTY);
        }
    }

    #[test]
    fn limits_are_found_by_class_and_time(
        steps in prop::collection::vec((1u8.., 0u8..6, 0u64..40, 0u64..40, 0u8..7), 1..600)
    ) {
        let mut threads = Box::new([Thread::FREE; 256]);
        let mut root = IDLE;
        let mut model: Vec<(u8, u64, ThreadIndex)> = Vec::new();
        for (thread, class, limit, now, before) in steps {
            // Classes from all over, and neighbours.
            let spread = |class: u8| [0, 16, 32, 127, 128, 224, 255][class as usize];
            let (class, before) = (spread(class) & ROUGHLY, spread(before) & ROUGHLY);
            if let Some(place) = model.iter().position(|entry| entry.2 == thread) {
                model.remove(place);
                remove::<ByTimeLimit>(&mut threads, &mut root, thread);
            } else {
                threads[thread as usize].time_limit = limit;
                threads[thread as usize].limit_class = class;
                model.push((class, limit, thread));
                insert::<ByTimeLimit>(&mut threads, &mut root, thread);
            }
            prop_assert_eq!(check::<ByTimeLimit>(&threads, root, 0, 0), model.len());
            let due = model.iter().filter(|entry| entry.1 <= now).min();
            let found = passed(&threads, root, now, false);
            let record = &threads[found as usize];
            let found = (found != IDLE).then_some((record.limit_class, record.time_limit));
            prop_assert_eq!(found, due.map(|entry| (entry.0, entry.1)));
            let limits = model.iter().filter(|entry| entry.0 < before).map(|entry| entry.1);
            let first = limits.min().unwrap_or(u64::MAX);
            prop_assert_eq!(first_before(&threads, root, before), first);
        }
    }
}
