//! How many entries of a TLB the translations of a domain take, if all of its pages are used.

use crate::check::{Entry, walk};
use crate::memory::{EXECUTE, Memory};
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE};
use cairn_abi::page_table::ROOT_LEVEL;
use std::collections::BTreeSet;

/// Entries for instructions and for data, of the pages below `root` at addresses that are chosen. `sector`: pages of an entry;
/// a large page takes one of its own.
pub fn count(
    memory: &mut Memory,
    root: u64,
    sector: u32,
    is_chosen: impl Fn(u64) -> bool,
) -> (u64, u64) {
    let (mut code, mut data) = (BTreeSet::new(), BTreeSet::new());
    walk(memory, root, ROOT_LEVEL, 0, &mut |entry| {
        let Entry::Page { address, flags, is_large, .. } = entry else { return };
        if is_chosen(address) {
            let unit = if is_large { LEAF_SPAN } else { u64::from(sector) * PAGE_SIZE };
            let entries = if flags & EXECUTE != 0 { &mut code } else { &mut data };
            entries.insert((is_large, address / unit));
        }
    });
    (code.len() as u64, data.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{PageTables, READ, Root, USER, WRITE};

    #[test]
    fn pages_of_a_sector_and_a_large_page_take_one_entry() {
        let mut memory = Memory::new(0x8020_0000);
        let mut tables = PageTables::new(&mut memory, 64);
        let root = Root(tables.take(1).unwrap());
        let mut map = |address, size, rights| {
            let physical = 0x9000_0000 + address;
            tables.map_large(&mut memory, root, address, physical, size, USER | rights).unwrap();
        };
        map(0x1_0000, 3 * PAGE_SIZE, READ | EXECUTE);
        map(0x1_3000, 6 * PAGE_SIZE, READ | WRITE);
        map(2 * LEAF_SPAN, LEAF_SPAN + PAGE_SIZE, READ);
        assert_eq!(count(&mut memory, root.0, 1, |_| true), (3, 6 + 1 + 1));
        assert_eq!(count(&mut memory, root.0, 4, |_| true), (1, 3 + 1 + 1));
        assert_eq!(count(&mut memory, root.0, 1, |address| address < 0x1_4000), (3, 1));
    }
}
