//! Bits of a page-table entry (privileged manual, section 4.3.1).

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
/// Accessed and dirty, set from the start: nothing pages by them, and hardware that does not set
/// them would fault.
pub const ACCESSED_DIRTY: u64 = 3 << 6;
/// For software: not valid yet, but somebody is about to map a page here.
pub const RESERVED: u64 = 1 << 8;
/// For software: memory that belongs to this domain alone, which a call may pass on in a window. A
/// page that came in a window, a shared section, a device does not have it.
pub const OWN: u64 = 1 << 9;

/// Most page tables that one domain makes at run time: one for each section that it maps, and one above. The layout
/// leaves so many for each, so that none takes another's.
pub const TABLES_AT_RUN_TIME: u32 = 9;
/// Most pages that the memory manager hands out; what a board has beyond them is not used.
pub const FREE_PAGES_MAXIMUM: usize = 1 << 16;
