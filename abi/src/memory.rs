//! What the layout and the memory manager agree on.

use crate::address::{SECTION_STRIDE, SECTIONS};
use crate::identifier::INSTANCES_MAXIMUM;

/// Sections at a time that are made at run time.
pub const SECTIONS_MAXIMUM: usize = INSTANCES_MAXIMUM;
/// Those that each instance maps at a time if there are enough for all, beside those that are kept for it. The layout leaves so
/// many page tables for it, one for each section that it may map, so that no instance takes another's.
pub const SECTIONS_EACH: usize = 8;
/// Address of the first section made at run time; those of the layout lie before. It is chosen so that one directory, which
/// the layout makes for each domain, leads to all of them: at run time no entry of a root changes but for a death.
pub const SECTIONS_AT_RUN_TIME: u64 = SECTIONS + (4096 + 240) * SECTION_STRIDE;
/// Most pages that the memory manager hands out; further memory of a board is not used.
pub const FREE_PAGES_MAXIMUM: usize = 1 << 16;
/// Bytes at the end of a heap that say nothing of its use: allocators mark it there.
pub const HEAP_END: u64 = 32;

/// The first of two words in front of a stack that lies in a component's data, where one is that a thread was started on; the second is the
/// stack's bytes. By them its use is found.
pub const fn stack_mark(address: u64) -> u64 {
    0x9d3f_61c8_72a5_e40b ^ address
}
