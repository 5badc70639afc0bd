use super::*;
use proptest::prelude::*;
extern crate std;
use std::{boxed::Box, vec::Vec};

/// Checks links, order and ranks below `node`; returns how many threads there are.
fn check(threads: &Threads, node: ThreadIndex, parent: ThreadIndex, right_steps: u32) -> usize {
    if node == IDLE {
        return 0;
    }
    assert!(right_steps <= 8, "a way to the right is too long");
    let thread = &threads[node as usize];
    let rank = |index: ThreadIndex| threads[index as usize].wait.rank;
    assert_eq!(thread.wait.parent, parent);
    assert!(rank(thread.wait.left) >= rank(thread.wait.right));
    assert_eq!(thread.wait.rank, rank(thread.wait.right) + 1);
    if parent != IDLE {
        assert!(threads[parent as usize].wait_key <= thread.wait_key);
    }
    1 + check(threads, thread.wait.left, node, 0)
        + check(threads, thread.wait.right, node, right_steps + 1)
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
                    prop_assert_eq!(threads[root as usize].wait_key, threads[first as usize].wait_key);
                    model.retain(|entry| entry.1 != first);
                    let taken = root;
                    prop_assert_eq!(taken, first);
                    remove::<ByWaitKey>(&mut threads, &mut root, taken);
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
            prop_assert_eq!(check(&threads, root, IDLE, 0), model.len());
            prop_assert_eq!(threads[IDLE as usize].wait, Links::NONE);
        }
    }
}
