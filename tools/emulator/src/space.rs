//! Page tables for tests: address spaces built in the emulated memory.

use crate::csr::{SATP_ASID_SHIFT, SATP_SV39};
use crate::memory::{Memory, PAGE_SIZE};
use crate::mmu::{EXECUTE, READ, VALID, WRITE};

/// A stock of physical pages that become page tables.
#[derive(Clone, Debug)]
pub struct Tables {
    next: u64,
    end: u64,
}

impl Tables {
    /// Adds `pages` pages of memory from `address` (page-aligned) on, for page tables.
    pub fn new(memory: &mut Memory, address: u64, pages: u64) -> Tables {
        assert_eq!(address % PAGE_SIZE, 0, "page tables at {address:#x}: must be page-aligned");
        memory.add(address, pages * PAGE_SIZE);
        Tables { next: address, end: address + pages * PAGE_SIZE }
    }

    fn take(&mut self) -> u64 {
        assert!(self.next < self.end, "no page left for page tables: give Tables::new more");
        self.next += PAGE_SIZE;
        self.next - PAGE_SIZE
    }
}

/// One page table.
#[derive(Clone, Copy, Debug)]
pub struct AddressSpace {
    /// Physical address of the root.
    pub root: u64,
    /// Its ASID.
    pub asid: u16,
}

impl AddressSpace {
    /// An empty one.
    pub fn new(tables: &mut Tables, asid: u16) -> AddressSpace {
        AddressSpace { root: tables.take(), asid }
    }

    /// The value of `satp` that selects it.
    pub fn satp(&self) -> u64 {
        SATP_SV39 | u64::from(self.asid) << SATP_ASID_SHIFT | self.root >> 12
    }

    /// Maps `pages` pages from `address` to `physical` with `flags` (bits of [`crate::mmu`]; VALID
    /// is added). Does not fence: a hart that has used the pages may keep the old translation.
    pub fn map(
        &self,
        memory: &mut Memory,
        tables: &mut Tables,
        address: u64,
        physical: u64,
        pages: u64,
        flags: u64,
    ) {
        assert!(flags & (READ | WRITE | EXECUTE) != 0, "map at {address:#x}: flags allow nothing");
        for page in 0..pages {
            let location = self.make_entry(memory, tables, address + page * PAGE_SIZE);
            let entry = (physical + page * PAGE_SIZE) >> 12 << 10 | flags | VALID;
            memory.write_u64(location, entry).expect("tables lie in memory");
        }
    }

    /// Physical address of the leaf entry of `address`; none if there is no table for it.
    pub fn entry(&self, memory: &Memory, address: u64) -> Option<u64> {
        let mut table = self.root;
        for shift in [30, 21] {
            table = next_table(memory, table + (address >> shift & 511) * 8)?;
        }
        Some(table + (address >> 12 & 511) * 8)
    }

    /// The same, making the tables on the way from `tables`.
    fn make_entry(&self, memory: &mut Memory, tables: &mut Tables, address: u64) -> u64 {
        let mut table = self.root;
        for shift in [30, 21] {
            let location = table + (address >> shift & 511) * 8;
            table = next_table(memory, location).unwrap_or_else(|| {
                let new = tables.take();
                memory.write_u64(location, new >> 12 << 10 | VALID).expect("tables lie in memory");
                new
            });
        }
        table + (address >> 12 & 511) * 8
    }
}

fn next_table(memory: &Memory, location: u64) -> Option<u64> {
    let entry = memory.read_u64(location).ok()?;
    (entry & VALID != 0).then_some((entry >> 10 & ((1 << 44) - 1)) << 12)
}
