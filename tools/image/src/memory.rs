//! The machine's memory as the image will fill it, and page tables in it.

use cairn_abi::address::{KERNEL, LEAF_SPAN, PAGE_SIZE, PAGE_TABLES};

pub use cairn_abi::page_table::{EXECUTE, GLOBAL, OWN, READ, USER, VALID, WRITE};
use cairn_abi::page_table::{ROOT_LEVEL, index, page_entry, span, table_entry, target};

/// Memory from the load address on.
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    /// Memory that begins at `base` and grows. Whether the board has as much is checked when everything is placed.
    pub fn new(base: u64) -> Memory {
        Memory { base, bytes: Vec::new() }
    }

    /// What an image filled, from its load address `base` on.
    pub fn of_image(base: u64, bytes: Vec<u8>) -> Memory {
        Memory { base, bytes }
    }

    /// The next `count` pages, zero; their physical address.
    pub fn pages(&mut self, count: u64) -> u64 {
        let address = self.end();
        self.bytes.resize(self.bytes.len() + (count * PAGE_SIZE) as usize, 0);
        address
    }

    /// Leaves out what is before the next multiple of `size`.
    pub fn align(&mut self, size: u64) {
        self.pages((self.end().next_multiple_of(size) - self.end()) / PAGE_SIZE);
    }

    /// Leaves out what is before the next place from which `size` bytes can be mapped at `address` by large pages, if they fill
    /// one.
    pub fn align_for(&mut self, address: u64, size: u64) {
        if address.next_multiple_of(LEAF_SPAN) + LEAF_SPAN <= address + size {
            let behind = address.wrapping_sub(self.end()) % LEAF_SPAN;
            self.pages(behind / PAGE_SIZE);
        }
    }

    /// Content at a physical address.
    pub fn at(&mut self, address: u64, size: usize) -> &mut [u8] {
        let from = (address - self.base) as usize;
        &mut self.bytes[from..from + size]
    }

    /// Writes bytes.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        self.at(address, bytes.len()).copy_from_slice(bytes);
    }

    /// Writes a word.
    pub fn store(&mut self, address: u64, word: u64) {
        self.write(address, &word.to_le_bytes());
    }

    /// Reads a word.
    pub fn load(&mut self, address: u64) -> u64 {
        u64::from_le_bytes((&*self.at(address, 8)).try_into().expect("eight bytes"))
    }

    /// First physical address behind everything.
    pub fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The image.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The pool of page tables: consecutive pages, so that a page table's kernel address is known.
pub struct PageTables {
    /// Physical address of the pool.
    pub physical: u64,
    /// Pages of the pool.
    pub count: u64,
    /// Pages taken.
    pub used: u64,
    /// More were asked for than the pool has.
    pub is_short: bool,
}

/// A page table's root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root(pub u64);

/// Physical address of the entry of a table of this level that leads to `address`.
pub fn slot(table: u64, address: u64, level: u32) -> u64 {
    table + index(address, level) as u64 * 8
}

impl PageTables {
    /// A pool of `count` pages.
    pub fn new(memory: &mut Memory, count: u64) -> PageTables {
        PageTables { physical: memory.pages(count), count, used: 0, is_short: false }
    }

    /// Takes consecutive pages; the physical address of the first.
    pub fn take(&mut self, count: u64) -> Result<u64, String> {
        if self.used + count > self.count {
            self.is_short = true;
            return Err("out of page tables".into());
        }
        let address = self.physical + self.used * PAGE_SIZE;
        self.used += count;
        Ok(address)
    }

    /// Kernel address of a physical address in the pool.
    pub fn kernel_address(&self, physical: u64) -> u64 {
        PAGE_TABLES + (physical - self.physical)
    }

    /// Follows or makes the entry for `address` at `level` 2 (root) or 1.
    fn next(
        &mut self,
        memory: &mut Memory,
        table: u64,
        address: u64,
        level: u32,
    ) -> Result<u64, String> {
        let slot = slot(table, address, level);
        let entry = memory.load(slot);
        if entry & VALID != 0 {
            return Ok(target(entry));
        }
        let page = self.take(1)?;
        memory.store(slot, table_entry(page));
        Ok(page)
    }

    /// Gives `address`'s region `count` consecutive leaf tables, so that its page-table entries are
    /// one array. Returns the physical address of the first entry.
    pub fn leaves(
        &mut self,
        memory: &mut Memory,
        root: Root,
        address: u64,
        count: u64,
    ) -> Result<u64, String> {
        let first = self.take(count)?;
        for index in 0..count {
            let address = address + index * LEAF_SPAN;
            let directory = self.next(memory, root.0, address, ROOT_LEVEL)?;
            let slot = slot(directory, address, 1);
            assert_eq!(memory.load(slot), 0, "leaf tables are made once");
            memory.store(slot, table_entry(first + index * PAGE_SIZE));
        }
        Ok(first)
    }

    /// Makes the directory that leads to `address`.
    pub fn directory(
        &mut self,
        memory: &mut Memory,
        root: Root,
        address: u64,
    ) -> Result<(), String> {
        self.next(memory, root.0, address, ROOT_LEVEL).map(drop)
    }

    /// Makes the leaf table that leads to `address`.
    pub fn leaf(&mut self, memory: &mut Memory, root: Root, address: u64) -> Result<(), String> {
        let directory = self.next(memory, root.0, address, ROOT_LEVEL)?;
        self.next(memory, directory, address, 1).map(drop)
    }

    /// Where the pages of one of the leaf tables that [`PageTables::leaves`] made for `root` are those of a large page, maps that
    /// instead. The leaf table stays as it is: windows look up pages there, whatever a core walks through.
    pub fn merge(&self, memory: &mut Memory, root: Root, address: u64) {
        let directory = target(memory.load(slot(root.0, address, ROOT_LEVEL)));
        let entry = slot(directory, address, 1);
        let leaf = target(memory.load(entry));
        let first = memory.load(leaf);
        let is_part = |index| memory.load(leaf + index * 8) == first + ((index * PAGE_SIZE) >> 2);
        let is_large = first & VALID != 0 && target(first).is_multiple_of(LEAF_SPAN);
        if is_large && (0..LEAF_SPAN / PAGE_SIZE).all(is_part) {
            memory.store(entry, first);
        }
    }

    /// Gives `to` the tables of `from` for what a root's entry leads to, around `address`.
    pub fn share(&mut self, memory: &mut Memory, from: Root, to: Root, address: u64) {
        let [from, to] = [from, to].map(|root| slot(root.0, address, ROOT_LEVEL));
        assert_eq!(memory.load(to), 0, "nothing is mapped there yet");
        let entry = memory.load(from);
        memory.store(to, entry);
    }

    /// Maps one page.
    pub fn map(
        &mut self,
        memory: &mut Memory,
        root: Root,
        address: u64,
        physical: u64,
        flags: u64,
    ) -> Result<(), String> {
        assert!(flags & (WRITE | EXECUTE) != WRITE | EXECUTE, "no page is writable and executable");
        assert_eq!(address >= KERNEL, flags & USER == 0, "user pages below, kernel pages above");
        let directory = self.next(memory, root.0, address, ROOT_LEVEL)?;
        let leaf = self.next(memory, directory, address, 1)?;
        let slot = slot(leaf, address, 0);
        assert_eq!(memory.load(slot), 0, "page {address:#x} is mapped once");
        memory.store(slot, page_entry(physical, flags));
        Ok(())
    }

    /// Maps consecutive pages.
    pub fn map_range(
        &mut self,
        memory: &mut Memory,
        root: Root,
        address: u64,
        physical: u64,
        size: u64,
        flags: u64,
    ) -> Result<(), String> {
        for offset in (0..size).step_by(PAGE_SIZE as usize) {
            self.map(memory, root, address + offset, physical + offset, flags)?;
        }
        Ok(())
    }

    /// Maps a large range with 2 MiB pages where both addresses allow.
    pub fn map_large(
        &mut self,
        memory: &mut Memory,
        root: Root,
        address: u64,
        physical: u64,
        size: u64,
        flags: u64,
    ) -> Result<(), String> {
        let mut offset = 0;
        while offset < size {
            let (virtual_address, physical_address) = (address + offset, physical + offset);
            let large = (virtual_address | physical_address) % span(1) == 0;
            if large && size - offset >= span(1) {
                let directory = self.next(memory, root.0, virtual_address, ROOT_LEVEL)?;
                let slot = slot(directory, virtual_address, 1);
                memory.store(slot, page_entry(physical_address, flags));
                offset += span(1);
            } else {
                self.map(memory, root, virtual_address, physical_address, flags)?;
                offset += PAGE_SIZE;
            }
        }
        Ok(())
    }
}
