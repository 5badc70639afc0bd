//! How many entries of a TLB the translations of a domain take, if all of its pages are used.

use crate::check::{Entry, walk};
use crate::memory::{EXECUTE, Memory};
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE};
use cairn_abi::page_table::ROOT_LEVEL;
use cairn_description::board::Tlb;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result};

/// Entries of a TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// For instructions.
    pub instruction: u64,
    /// For data.
    pub data: u64,
    /// Further ones of each, for large pages alone; without, they take those above.
    pub large: Option<u64>,
}

/// Entries that translations take, for instructions and for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entries {
    /// Those of small pages for instructions,
    pub code: u64,
    /// and for data;
    pub data: u64,
    /// those of large pages for instructions,
    pub large_code: u64,
    /// and for data.
    pub large_data: u64,
}

impl Entries {
    /// Of the pages below `root` at addresses that are chosen, where `sector` pages share an entry. A large page takes one of
    /// its own.
    pub fn count(
        memory: &mut Memory,
        root: u64,
        sector: u32,
        is_chosen: impl Fn(u64) -> bool,
    ) -> Entries {
        let mut entries: [BTreeSet<u64>; 4] = Default::default();
        walk(memory, root, ROOT_LEVEL, 0, &mut |entry| {
            let Entry::Page { address, flags, is_large, .. } = entry else { return };
            if is_chosen(address) {
                let unit = if is_large { LEAF_SPAN } else { u64::from(sector) * PAGE_SIZE };
                let is_data = flags & EXECUTE == 0;
                entries[2 * usize::from(is_large) + usize::from(is_data)].insert(address / unit);
            }
        });
        let [code, data, large_code, large_data] = entries.map(|entries| entries.len() as u64);
        Entries { code, data, large_code, large_data }
    }

    /// Whether a TLB has as many.
    pub fn fit(&self, tlb: &Capacity) -> bool {
        let Entries { code, data, large_code, large_data } = *self;
        match tlb.large {
            None => code + large_code <= tlb.instruction && data + large_data <= tlb.data,
            Some(large) => {
                code <= tlb.instruction && data <= tlb.data && large_code.max(large_data) <= large
            }
        }
    }

    /// For people, as a TLB's capacity is shown.
    pub fn text(&self, tlb: &Capacity) -> String {
        let Entries { code, data, large_code, large_data } = self;
        match tlb.large {
            Some(_) if large_code + large_data > 0 => {
                format!("{code} and {data}, and {large_code} and {large_data} for large pages")
            }
            Some(_) => format!("{code} and {data}"),
            None => format!("{} and {}", code + large_code, data + large_data),
        }
    }
}

impl From<Tlb> for Capacity {
    fn from(tlb: Tlb) -> Capacity {
        Capacity {
            instruction: tlb.instruction.into(),
            data: tlb.data.into(),
            large: tlb.large.map(u64::from),
        }
    }
}

impl Display for Capacity {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        write!(formatter, "{} for instructions and {} for data", self.instruction, self.data)?;
        match self.large {
            Some(large) => write!(formatter, ", and {large} of each for large pages"),
            None => Ok(()),
        }
    }
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
        let mut count = |sector, end| {
            let entries = Entries::count(&mut memory, root.0, sector, |address| address < end);
            [entries.code, entries.data, entries.large_code, entries.large_data]
        };
        assert_eq!(count(1, u64::MAX), [3, 6 + 1, 0, 1]);
        assert_eq!(count(4, u64::MAX), [1, 3 + 1, 0, 1]);
        assert_eq!(count(1, 0x1_4000), [3, 1, 0, 0]);
    }

    #[test]
    fn a_program_that_fills_a_large_page_is_mapped_by_one_and_its_leaf_table_stays() {
        let mut memory = Memory::new(0x8020_0000);
        let mut tables = PageTables::new(&mut memory, 64);
        let root = Root(tables.take(1).unwrap());
        let (region, from, size) = (4 * LEAF_SPAN, 4 * LEAF_SPAN + 0x1_0000, 2 * LEAF_SPAN);
        let leaves = tables.leaves(&mut memory, root, region, 3).unwrap();
        memory.align_for(from, size);
        let physical = memory.pages(size / PAGE_SIZE);
        let rights = USER | READ | EXECUTE;
        tables.map_range(&mut memory, root, from, physical, size, rights).unwrap();
        let table = memory.at(leaves, 3 * PAGE_SIZE as usize).to_vec();
        let count = |memory: &mut Memory| {
            let entries = Entries::count(memory, root.0, 1, |_| true);
            (entries.code, entries.large_code)
        };
        assert_eq!(count(&mut memory), (1024, 0));
        for leaf in 0..3 {
            tables.merge(&mut memory, root, region + leaf * LEAF_SPAN);
        }
        assert_eq!(count(&mut memory), (512, 1));
        assert_eq!(memory.at(leaves, 3 * PAGE_SIZE as usize), table);
    }

    #[test]
    fn pages_of_which_one_is_elsewhere_or_has_other_rights_stay_small() {
        let mut memory = Memory::new(0x8020_0000);
        let mut tables = PageTables::new(&mut memory, 64);
        let root = Root(tables.take(1).unwrap());
        tables.leaves(&mut memory, root, 0, 2).unwrap();
        let (last, physical) = (LEAF_SPAN - PAGE_SIZE, 0x9000_0000);
        let mut map = |address, physical, size, rights| {
            tables.map_range(&mut memory, root, address, physical, size, USER | rights).unwrap();
        };
        map(0, physical, last, READ | WRITE);
        map(last, physical + last, PAGE_SIZE, READ);
        map(LEAF_SPAN, physical + LEAF_SPAN, last, READ);
        map(LEAF_SPAN + last, physical, PAGE_SIZE, READ);
        for leaf in 0..2 {
            tables.merge(&mut memory, root, leaf * LEAF_SPAN);
        }
        assert_eq!(Entries::count(&mut memory, root.0, 1, |_| true).large_data, 0);
    }

    #[test]
    fn large_pages_take_their_own_entries_where_there_are_some() {
        let entries = Entries { code: 8, data: 3, large_code: 0, large_data: 5 };
        let fit = |data, large| entries.fit(&Capacity { instruction: 8, data, large });
        assert!(fit(8, None) && !fit(7, None));
        assert!(fit(3, Some(5)) && !fit(3, Some(4)) && !fit(2, Some(5)));
        let tlb = |large| Capacity { instruction: 8, data: 8, large };
        assert_eq!(entries.text(&tlb(None)), "8 and 8");
        assert_eq!(entries.text(&tlb(Some(4))), "8 and 3, and 0 and 5 for large pages");
    }
}
