//! Where a package's parts lie in the region of the instance that it becomes, as offsets from the region's beginning: as the layout
//! places those of a description.

use cairn_abi::RegionId;
use cairn_abi::address::*;
use core::ops::Range;

/// What a package asks for that takes addresses, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Its image.
    pub image: u64,
    /// Its heap.
    pub heap: u64,
    /// The stack of its first thread.
    pub stack: u64,
    /// Each of the stacks on which it serves calls.
    pub call_stack: u64,
    /// How many these are.
    pub call_stacks: u64,
    /// Its range that has a pager.
    pub paged: u64,
}

/// Where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    image: u64,
    image_end: u64,
    heap: u64,
    heap_end: u64,
    /// The activations, whose first is that of the first thread.
    activations: u64,
    stacks: [u64; 2],
    count: u64,
    paged: u64,
    region: RegionId,
}

impl Placement {
    /// In the region of this number. What a package can say ([`package`](crate::package)) makes no sum overflow.
    pub fn new(wanted: &Wanted, region: RegionId) -> Placement {
        Placement::at(wanted, IMAGE_OFFSET + image_spread(region), region)
    }

    /// The same, with an image that begins at an offset.
    pub fn at(wanted: &Wanted, image: u64, region: RegionId) -> Placement {
        let page = |offset: u64| offset.next_multiple_of(PAGE_SIZE);
        let image_end = image + page(wanted.image);
        let heap_end = image_end + page(wanted.heap);
        Placement {
            image,
            image_end,
            heap: image_end,
            heap_end,
            activations: activation_from(heap_end, region),
            stacks: [wanted.stack, wanted.call_stack].map(page),
            count: 1 + wanted.call_stacks,
            paged: page(wanted.paged),
            region,
        }
    }

    /// The image, to which a package's offsets are added.
    pub fn image(&self) -> Range<u64> {
        self.image..self.image_end
    }

    /// The heap; empty if there is none.
    pub fn heap(&self) -> Range<u64> {
        self.heap..self.heap_end
    }

    /// The stacks, that of the first thread before those on which calls are served. Each grows down from its end.
    pub fn stacks(&self) -> impl Iterator<Item = Range<u64>> + Clone + use<> {
        let placement = *self;
        (0..self.count).map(move |place| {
            let size = placement.stacks[usize::from(place > 0)];
            // What is more than a small stack lies before.
            let activation = placement.behind(place + 1) - ACTIVATION_STRIDE;
            let top = activation + ACTIVATION_STACK_TOP;
            top - size..top
        })
    }

    /// Where the window slots begin that belong to a stack which ends at `top`.
    pub fn windows(top: u64) -> u64 {
        top - ACTIVATION_STACK_TOP + ACTIVATION_WINDOWS
    }

    /// The range whose pages another provides; empty if there is none.
    pub fn paged(&self) -> Range<u64> {
        let start = self.behind(self.count);
        start..start + self.paged
    }

    /// Behind all this: what the instance gets at run time lies from here on.
    pub fn end(&self) -> u64 {
        match self.paged() {
            paged if paged.is_empty() => paged.end,
            paged => activation_from(paged.end, self.region),
        }
    }

    /// Pages of its own, all but those of the image.
    pub fn pages(&self) -> u64 {
        let [first, other] = self.stacks;
        let stacks = first + other * (self.count - 1);
        (self.heap_end - self.heap + stacks) / PAGE_SIZE
    }

    /// Behind the first so many activations.
    fn behind(&self, count: u64) -> u64 {
        let [first, other] = self.stacks.map(activation_stride);
        self.activations + first * count.min(1) + other * count.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn nothing_overlaps_and_a_page_before_each_stack_is_free() {
        for number in 1..20 {
            for (image, heap, stack, call_stack, call_stacks, paged) in [
                (1, 0, 1, 1, 0, 0),
                (70_000, 5000, 16 << 10, 8 << 10, 3, 1),
                (1 << 20, 3 << 20, ACTIVATION_STACK_MAXIMUM, 64 << 10, 7, 0),
                (4096, 4096, ACTIVATION_STACK_SMALL, ACTIVATION_STACK_MAXIMUM, 7, 160 << 10),
            ] {
                let wanted = Wanted { image, heap, stack, call_stack, call_stacks, paged };
                let placed = Placement::new(&wanted, RegionId(number));
                assert!(placed.image().start >= IMAGE_OFFSET);
                assert!(placed.image().end >= placed.image().start + image);
                assert_eq!(placed.heap().start, placed.image().end);
                let stacks: Vec<_> = placed.stacks().collect();
                assert_eq!(stacks.len() as u64, 1 + call_stacks);
                let mut end = placed.heap().end;
                for (place, stack) in stacks.iter().enumerate() {
                    let size = if place == 0 { wanted.stack } else { call_stack };
                    assert_eq!(stack.end - stack.start, size.next_multiple_of(PAGE_SIZE));
                    assert!(stack.start >= end + PAGE_SIZE, "{number}, {wanted:?}, {place}");
                    end = Placement::windows(stack.end) + 3 * WINDOW_SLOT_STRIDE;
                    assert!(end <= placed.end());
                }
                let pages = (heap.next_multiple_of(PAGE_SIZE)
                    + stacks.iter().map(|stack| stack.end - stack.start).sum::<u64>())
                    / PAGE_SIZE;
                assert_eq!(placed.pages(), pages);
                let range = placed.paged();
                assert!(range.start >= end && range.start.is_multiple_of(PAGE_SIZE));
                assert_eq!(range.end - range.start, paged.next_multiple_of(PAGE_SIZE));
                // As the memory manager finds it from where the last stack ends, or the range.
                let last = if paged == 0 { stacks[call_stacks as usize].end } else { range.end };
                assert_eq!(activation_from(last, RegionId(number)), placed.end());
            }
        }
    }
}
