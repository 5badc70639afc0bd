//! Heaps inside a table of records, whose worst case is the number of bits of a place.
//!
//! One structure serves every queue that needs an order: the waiters of an object, the time limits, the
//! contended locks of a thread, a ready queue by deadline. Each item has a *key*, and a *place*, a number that
//! no other item of its heap has. No key above an item is greater than its own; and at depth `n`, whatever
//! has bit `n` of its place set lies to the right, the rest to the left. So no way down has more steps than a place
//! has bits, in whatever order items come and go; nothing has to be balanced; and an item is found from the
//! root by its place, without a link up. Items need no memory but two links in their records. Item 0 is in
//! no heap, and its number marks an empty place.

use crate::thread::{Links, NONE, Thread, ThreadIndex};

/// Items of a table.
pub const ITEMS: usize = 256;

/// Which records, keys, places and links a heap uses.
pub trait Order {
    /// The record of an item.
    type Item;
    /// Bits of a place.
    const BITS: u32;

    /// The smallest key comes first.
    fn key(item: &Self::Item) -> u64;
    /// The item's place; bit 0 of the way is its highest bit.
    fn place(index: u8, item: &Self::Item) -> u64;
    /// The links.
    fn links(item: &Self::Item) -> &Links;
    /// The links.
    fn links_mut(item: &mut Self::Item) -> &mut Links;
}

/// By [`Thread::wait_key`]: the waiters of one object, or ready threads.
pub struct ByWaitKey;

impl Order for ByWaitKey {
    type Item = Thread;
    const BITS: u32 = ThreadIndex::BITS;

    #[inline(always)]
    fn key(thread: &Thread) -> u64 {
        thread.wait_key
    }
    #[inline(always)]
    fn place(index: u8, _: &Thread) -> u64 {
        u64::from(index) << (u64::BITS - 8)
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

/// Whether the way to `place` goes right at this depth.
#[inline(always)]
fn side(place: u64, depth: u32) -> usize {
    (place << depth >> 63) as usize
}

/// Puts `item` into the heap that begins at `root`.
#[inline(always)]
pub fn insert<O: Order>(items: &mut [O::Item; ITEMS], root: &mut u8, item: u8) {
    *O::links_mut(&mut items[item as usize]) = Links::EMPTY;
    if *root == NONE {
        *root = item;
    } else {
        insert_below::<O>(items, root, item);
    }
}

/// [`insert`] into a heap that is not empty.
#[inline(never)]
fn insert_below<O: Order>(items: &mut [O::Item; ITEMS], root: &mut u8, item: u8) {
    // `above` is where it belongs; `item` has to go below that.
    let (mut above, mut item) = (*root, item);
    if O::key(&items[item as usize]) < O::key(&items[above as usize]) {
        *root = item;
        *O::links_mut(&mut items[item as usize]) = *O::links(&items[above as usize]);
        (above, item) = (item, above);
    }
    for depth in 0..O::BITS {
        let record = &items[item as usize];
        let (key, side) = (O::key(record), side(O::place(item, record), depth));
        let next = O::links(&items[above as usize]).below[side];
        if next == NONE {
            O::links_mut(&mut items[above as usize]).below[side] = item;
            *O::links_mut(&mut items[item as usize]) = Links::EMPTY;
            return;
        }
        if key < O::key(&items[next as usize]) {
            // It takes the place of the next, which goes on down instead.
            O::links_mut(&mut items[above as usize]).below[side] = item;
            *O::links_mut(&mut items[item as usize]) = *O::links(&items[next as usize]);
            (above, item) = (item, next);
        } else {
            above = next;
        }
    }
    // Two items of one place: no order of this scheduler has them.
}

/// True if the heap that begins at `root` has more than one item.
#[inline(always)]
pub fn has_several<O: Order>(items: &[O::Item; ITEMS], root: u8) -> bool {
    *O::links(&items[root as usize]) != Links::EMPTY
}

/// Takes `item`, which is in the heap that begins at `root`, out of it. Its links are then
/// [`Links::EMPTY`].
#[inline(always)]
pub fn remove<O: Order>(items: &mut [O::Item; ITEMS], root: &mut u8, item: u8) {
    // Alone: the commonest case.
    if *root == item && *O::links(&items[item as usize]) == Links::EMPTY {
        *root = NONE;
    } else {
        remove_linked::<O>(items, root, item);
    }
}

/// [`remove`] from a heap of several.
#[inline(never)]
fn remove_linked<O: Order>(items: &mut [O::Item; ITEMS], root: &mut u8, item: u8) {
    if *root == item {
        *root = fill::<O>(items, item);
        return;
    }
    let place = O::place(item, &items[item as usize]);
    let mut above = *root;
    for depth in 0..O::BITS {
        let side = side(place, depth);
        let next = O::links(&items[above as usize]).below[side];
        if next == item {
            let rest = fill::<O>(items, item);
            O::links_mut(&mut items[above as usize]).below[side] = rest;
            return;
        }
        above = next;
    }
    // It is not in this heap.
}

/// Makes one heap of what is below `item`, in its place, and empties its links: the smaller of two heads goes
/// up, step by step. Returns the head.
#[inline(always)]
fn fill<O: Order>(items: &mut [O::Item; ITEMS], item: u8) -> u8 {
    let mut hole = core::mem::replace(O::links_mut(&mut items[item as usize]), Links::EMPTY);
    let (head, mut side) = smaller::<O>(items, hole);
    let mut up = head;
    while up != 0 {
        // It gets what the vacant place had below it, and leaves a vacant place itself.
        let below = core::mem::replace(O::links_mut(&mut items[up % ITEMS]), hole);
        let (next, next_side) = smaller::<O>(items, below);
        O::links_mut(&mut items[up % ITEMS]).below[side] = next as u8;
        (hole, side, up) = (below, next_side, next);
    }
    head as u8
}

/// The smaller key of the two, and on which side it is. Words, whose upper bits need no care, save instructions.
#[inline(always)]
fn smaller<O: Order>(items: &[O::Item; ITEMS], links: Links) -> (usize, usize) {
    let [left, right] = links.below.map(usize::from);
    if left == 0 {
        return (right, 1);
    }
    if right != 0 && O::key(&items[right]) < O::key(&items[left]) {
        return (right, 1);
    }
    (left, 0)
}

#[cfg(test)]
#[path = "heap_tests.rs"]
mod tests;
