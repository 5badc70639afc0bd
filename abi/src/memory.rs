//! What the layout and the memory manager share out.

/// Most page tables that one domain makes at run time: one for each section that it maps, and one above. The layout
/// leaves so many for each, so that none takes another's.
pub const TABLES_AT_RUN_TIME: u32 = 9;
/// Most pages that the memory manager hands out; what a board has beyond them is not used.
pub const FREE_PAGES_MAXIMUM: usize = 1 << 16;
