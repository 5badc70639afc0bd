//! Leftist heaps of threads, linked inside the thread records.
//!
//! One structure serves every queue that needs an order: the waiters of an object, the time limits,
//! a ready queue by deadline. It needs no memory of its own, any number of heaps can exist, and
//! every operation has a worst case (not only an amortised one) of O(log n): the *rank* of a thread,
//! the length of its shortest way down to an empty place, is never greater on the right than on the
//! left. So a way that always goes right has at most 8 steps among 255 threads, a merge at most 16,
//! and long ways to the left are never walked. [`IDLE`] is in no heap; its rank is 0 and its number
//! marks an empty place.

use crate::thread::{IDLE, Links, Thread, ThreadIndex, Threads};

/// Which key and links of a thread a heap uses.
pub trait Order {
    /// The smallest key comes first.
    fn key(thread: &Thread) -> u64;
    /// The links.
    fn links(thread: &Thread) -> &Links;
    /// The links.
    fn links_mut(thread: &mut Thread) -> &mut Links;
}

/// By [`Thread::wait_key`]: the waiters of one object, or ready threads.
pub struct ByWaitKey;
/// By [`Thread::time_limit`].
pub struct ByTimeLimit;

impl Order for ByWaitKey {
    #[inline(always)]
    fn key(thread: &Thread) -> u64 {
        thread.wait_key
    }
    #[inline(always)]
    fn links(thread: &Thread) -> &Links {
        &thread.wait
    }
    #[inline(always)]
    fn links_mut(thread: &mut Thread) -> &mut Links {
        &mut thread.wait
    }
}

impl Order for ByTimeLimit {
    #[inline(always)]
    fn key(thread: &Thread) -> u64 {
        thread.time_limit
    }
    #[inline(always)]
    fn links(thread: &Thread) -> &Links {
        &thread.timer
    }
    #[inline(always)]
    fn links_mut(thread: &mut Thread) -> &mut Links {
        &mut thread.timer
    }
}

/// Puts `thread` into the heap that begins at `root`.
#[inline(always)]
pub fn insert<O: Order>(threads: &mut Threads, root: &mut ThreadIndex, thread: ThreadIndex) {
    *O::links_mut(&mut threads[thread as usize]) = Links::ALONE;
    *root = if *root == IDLE { thread } else { merge::<O>(threads, *root, thread) };
}

/// True if the heap that begins at `root` has more than one thread.
#[inline(always)]
pub fn has_several<O: Order>(threads: &Threads, root: ThreadIndex) -> bool {
    O::links(&threads[root as usize]).left != IDLE
}

/// Takes `thread`, which is in the heap that begins at `root`, out of it. Its links are then
/// [`Links::ALONE`].
#[inline(always)]
pub fn remove<O: Order>(threads: &mut Threads, root: &mut ThreadIndex, thread: ThreadIndex) {
    let links = *O::links(&threads[thread as usize]);
    // Without a left child there is no right one: the commonest case.
    if links.left == IDLE && links.parent == IDLE {
        *root = IDLE;
    } else {
        *root = remove_linked::<O>(threads, *root, links, thread);
    }
}

/// [`remove`] from a heap of several; returns the new root.
#[inline(never)]
fn remove_linked<O: Order>(
    threads: &mut Threads,
    root: ThreadIndex,
    links: Links,
    thread: ThreadIndex,
) -> ThreadIndex {
    let rest =
        if links.right == IDLE { links.left } else { merge::<O>(threads, links.left, links.right) };
    let parent = links.parent;
    *O::links_mut(&mut threads[thread as usize]) = Links::ALONE;
    if rest != IDLE {
        O::links_mut(&mut threads[rest as usize]).parent = parent;
    }
    if parent == IDLE {
        return rest;
    }
    let above = O::links_mut(&mut threads[parent as usize]);
    if above.left == thread {
        above.left = rest;
    } else {
        above.right = rest;
    }
    // Where a rank changes, its old or its new value is one more than that of the thread below, and
    // no rank exceeds 8: so at most 8 change.
    let mut node = parent;
    while node != IDLE && balance::<O>(threads, node) {
        node = O::links(&threads[node as usize]).parent;
    }
    root
}

/// Merges two heaps, neither empty; returns the root.
#[inline(never)]
fn merge<O: Order>(threads: &mut Threads, left: ThreadIndex, right: ThreadIndex) -> ThreadIndex {
    let key = |threads: &Threads, thread: ThreadIndex| O::key(&threads[thread as usize]);
    let (root, mut other) =
        if key(threads, right) < key(threads, left) { (right, left) } else { (left, right) };
    // Down the right sides of both, always going on with the smaller key.
    let mut node = root;
    loop {
        let next = O::links(&threads[node as usize]).right;
        if next != IDLE && key(threads, next) <= key(threads, other) {
            node = next;
            continue;
        }
        O::links_mut(&mut threads[node as usize]).right = other;
        O::links_mut(&mut threads[other as usize]).parent = node;
        if next == IDLE {
            break;
        }
        node = other;
        other = next;
    }
    // Up again, the higher rank to the left.
    O::links_mut(&mut threads[root as usize]).parent = IDLE;
    while node != IDLE {
        balance::<O>(threads, node);
        node = O::links(&threads[node as usize]).parent;
    }
    root
}

/// Puts the child of higher rank to the left and sets the rank; true if the rank changed.
#[inline(always)]
fn balance<O: Order>(threads: &mut Threads, node: ThreadIndex) -> bool {
    let Links { left, right, rank, .. } = *O::links(&threads[node as usize]);
    let left_rank = O::links(&threads[left as usize]).rank;
    let right_rank = O::links(&threads[right as usize]).rank;
    let links = O::links_mut(&mut threads[node as usize]);
    if left_rank < right_rank {
        links.left = right;
        links.right = left;
    }
    links.rank = left_rank.min(right_rank) + 1;
    links.rank != rank
}

#[cfg(test)]
#[path = "heap_tests.rs"]
mod tests;
