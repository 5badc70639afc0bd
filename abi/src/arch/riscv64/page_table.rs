//! Page tables: Sv39, three levels of tables of 512 entries of 64 bits (privileged manual, section 4.4). The emulator and
//! the tests of the memory manager implement the same rules independently, so that they find an error here.

use crate::address::PAGE_SIZE;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The entry is valid.
pub const VALID: u64 = 1;
/// Loads.
pub const READ: u64 = 1 << 1;
/// Stores.
pub const WRITE: u64 = 1 << 2;
/// Instructions.
pub const EXECUTE: u64 = 1 << 3;
/// User mode.
pub const USER: u64 = 1 << 4;
/// In every address space.
pub const GLOBAL: u64 = 1 << 5;
/// Accessed and dirty, set from the start: no component uses them for paging, and hardware that does not set them would
/// raise a page fault.
pub const ACCESSED_DIRTY: u64 = 3 << 6;
/// For software: not valid yet, but reserved for a page that is being mapped.
pub const RESERVED: u64 = 1 << 8;
/// For software: memory that belongs to this domain alone, which a call may pass on in a window. Pages of windows, shared
/// sections and devices do not have this bit.
pub const OWN: u64 = 1 << 9;

/// Bits that a page must have to be passed in a window, for reading and for writing.
pub const PTE_READABLE: u64 = OWN | VALID | READ | USER;
pub const PTE_WRITABLE: u64 = PTE_READABLE | WRITE;
/// Mask of the bits that a page keeps in such a window: the callee neither owns nor executes it.
pub const PTE_READ_WINDOW: u64 = !(OWN | WRITE | EXECUTE);
pub const PTE_WRITE_WINDOW: u64 = !(OWN | EXECUTE);
/// Bits that a page of a window must have to be passed on.
pub const PTE_PASSED_READABLE: u64 = VALID | READ | USER;
pub const PTE_PASSED_WRITABLE: u64 = PTE_PASSED_READABLE | WRITE;
/// The same of a caller in the kernel domain, whose pages user mode does not reach and every space has.
pub const PTE_KERNEL_READABLE: u64 = OWN | VALID | READ;
pub const PTE_KERNEL_WRITABLE: u64 = PTE_KERNEL_READABLE | WRITE;
pub const PTE_KERNEL_READ_WINDOW: u64 = PTE_READ_WINDOW & !GLOBAL;
pub const PTE_KERNEL_WRITE_WINDOW: u64 = PTE_WRITE_WINDOW & !GLOBAL;
pub const PTE_USER: u64 = USER;
/// What the entry of a process' page has beside rights.
pub const PTE_VALID: u64 = VALID;
pub const PTE_GLOBAL: u64 = GLOBAL;

/// Bits that a page must have for its owner, a pager, to let a client have it; what the client's entry keeps of it, and what every
/// such entry gets: in user mode, to be read. The page stays the pager's, so its client passes it on in no window.
pub const PTE_PAGED: u64 = OWN | VALID | READ | WRITE;
pub const PTE_PAGED_KEPT: u64 = !(OWN | READ | WRITE | EXECUTE | GLOBAL);
pub const PTE_PAGED_GIVEN: u64 = USER | READ;
/// An entry that is nothing but this had such a page, whose pager died: nobody maps it again before its client's next life.
pub const PTE_LOST: u64 = RESERVED;

/// Entries of a table.
pub const ENTRIES: usize = 512;
/// The same as a number of bits.
pub const ENTRIES_BITS: u32 = ENTRIES.ilog2();
/// The level of a root. The entries of level 0 lead to pages.
pub const ROOT_LEVEL: u32 = 2;

/// Bytes that an entry of a table of this level leads to.
pub const fn span(level: u32) -> u64 {
    PAGE_SIZE << (9 * level)
}

/// Which entry of a table of this level leads to `address`.
pub const fn index(address: u64, level: u32) -> usize {
    (address / span(level)) as usize % ENTRIES
}

/// The entry that leads to the table at a physical address.
pub const fn table_entry(physical: u64) -> u64 {
    physical >> 2 | VALID
}

/// The entry that maps the page at a physical address.
pub const fn page_entry(physical: u64, rights: u64) -> u64 {
    physical >> 2 | rights | VALID | ACCESSED_DIRTY
}

/// Physical address in an entry, valid or not.
pub const fn target(entry: u64) -> u64 {
    (entry >> 10 & FRAME) << 12
}

/// Whether an entry that is not empty leads to a table, not to a page.
pub const fn is_table(entry: u64) -> bool {
    entry & (READ | WRITE | EXECUTE) == 0
}

/// What selects a domain's address space: a word that the nucleus and portal code load, and nobody else takes apart.
/// Here `satp` (section 4.1.11).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(transparent)]
pub struct Space(u64);

impl Space {
    /// No space.
    pub const NONE: Space = Space(0);

    /// The space with its root's physical address, and its identifier (ASID).
    pub const fn new(root: u64, identifier: u64) -> Space {
        Space(8 << 60 | identifier << SPACE_IDENTIFIER_SHIFT | (root / PAGE_SIZE))
    }

    /// The word that selects it.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The physical address of its root.
    pub const fn root(self) -> u64 {
        (self.0 & FRAME) << 12
    }

    /// Its identifier, which fences name.
    pub const fn identifier(self) -> u64 {
        (self.0 & SPACE_IDENTIFIER) >> SPACE_IDENTIFIER_SHIFT
    }
}

/// The bits of a space's word that are its identifier.
pub const SPACE_IDENTIFIER: u64 = 0xffff << SPACE_IDENTIFIER_SHIFT;
/// Where they begin.
pub const SPACE_IDENTIFIER_SHIFT: u32 = 44;

/// The bits of a physical page's number.
const FRAME: u64 = (1 << 44) - 1;
