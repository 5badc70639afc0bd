//! Limits of memory that the layout and the memory manager agree on.

/// Most page tables that are made for one domain at run time: one for each section that it maps, and one above them. The
/// layout leaves this number for each domain, so that no domain takes another's.
pub const TABLES_AT_RUN_TIME: u32 = 9;
/// Most pages that the memory manager hands out; further memory of a board is not used.
pub const FREE_PAGES_MAXIMUM: usize = 1 << 16;
