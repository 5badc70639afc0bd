//! The page tables of processes: which are free, and what an address of a space leads to.
//!
//! The hardware's own tables are the only record of what is mapped: the pool can be read, and what changes it is checked by portals.
#![allow(unsafe_code)]

use super::{fence_instructions, given, memory};
use crate::Error;
use crate::call::raw;
use crate::privileged::done;
use crate::section::Section;
use cairn_abi::address::{PAGE_SIZE, PROCESS_MEMORY, USER_ADDRESS_BITS};
use cairn_abi::page_table::*;
use cairn_abi::privileged::*;
use cairn_abi::process::{CLEARED, Given, TABLES_MAXIMUM};

/// Runs of a table.
const RUNS: u64 = PAGE_SIZE / CLEARED;
/// Words of a bit for each table.
const USED: usize = 3 * TABLES_MAXIMUM as usize / 64;
/// Entries of a table, as a number of numbers.
const EACH: u64 = ENTRIES as u64;

/// What a process may do with a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Loads.
    pub read: bool,
    /// Stores. Who may store may load as well.
    pub write: bool,
    /// Instructions.
    pub execute: bool,
}

impl Rights {
    /// Loads alone.
    pub const READ: Rights = Rights { read: true, write: false, execute: false };
    /// Loads and stores.
    pub const WRITE: Rights = Rights { read: true, write: true, execute: false };
    /// Loads and instructions.
    pub const EXECUTE: Rights = Rights { read: true, write: false, execute: true };

    fn bits(self) -> u64 {
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        bit(self.read || self.write, READ) | bit(self.write, WRITE) | bit(self.execute, EXECUTE)
    }
}

/// A page of the processes' memory, by its number, and what may be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The number: its first byte is at so many pages of [`memory`].
    pub number: u64,
    /// What is allowed.
    pub rights: Rights,
}

/// An address space, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space(pub u64);

/// The pool, and which of its tables are used.
pub struct Tables {
    given: Given,
    pool: Section,
    memory: Section,
    used: [u64; USED],
}

impl Tables {
    /// The pool, which becomes empty; `None`: the description gives this instance no processes. Whoever makes a second one loses what
    /// the first one knows.
    pub fn new() -> Option<Tables> {
        let given = *given()?;
        let address = (PROCESS_MEMORY + given.tables) as usize;
        // SAFETY: the host tool maps it here for good, to be read.
        let pool = unsafe { Section::new(address, given.pool.size() as usize, false) };
        let tables = Tables { given, pool, memory: memory()?, used: [0; USED] };
        (0..given.pool.tables()).for_each(|table| tables.clear(table));
        for space in 0..given.pool.spaces {
            // Of a life before.
            let _ = tables.fence(Space(space), None);
        }
        Some(tables)
    }

    /// The memory whose pages are mapped.
    pub fn memory(&self) -> &Section {
        &self.memory
    }

    /// Pages of that.
    pub fn pages(&self) -> u64 {
        self.given.memory_size / PAGE_SIZE
    }

    /// A new address space, in which nothing is mapped; `Exhausted`: all are used.
    pub fn make_space(&mut self) -> Result<Space, Error> {
        self.take(0, self.given.pool.spaces).map(Space)
    }

    /// Ends an address space. Its tables are free; what was mapped in it is told to `page`.
    pub fn end_space(&mut self, space: Space, mut page: impl FnMut(u64, Page)) {
        if space.0 >= self.given.pool.spaces {
            return;
        }
        for entry in 0..EACH / 2 {
            let Some(directory) = self.lower(space.0 * EACH + entry) else { continue };
            for middle in 0..EACH {
                let Some(leaf) = self.lower(directory * EACH + middle) else { continue };
                for last in 0..EACH {
                    if let Some(found) = self.page(leaf * EACH + last) {
                        page((entry << 18 | middle << 9 | last) * PAGE_SIZE, found);
                    }
                }
                self.free(leaf);
            }
            self.free(directory);
        }
        self.free(space.0);
        let _ = self.fence(space, None);
    }

    /// Maps a page at an address, instead of what was there. `Exhausted`: no table is left for it; `BadPointer`: no address of a
    /// process; `BadArgument`: there is no such page. What a hart knows of another page there it forgets.
    pub fn map(&mut self, space: Space, address: u64, page: Page) -> Result<(), Error> {
        let entry = self.entry_or_new(space, address)?;
        let physical = page.number.checked_mul(PAGE_SIZE).ok_or(Error::BadArgument)?;
        let physical = physical.checked_add(self.given.memory).ok_or(Error::BadArgument)?;
        let word = page_entry(physical, page.rights.bits() | USER);
        let was_mapped = self.word(entry) & VALID != 0;
        self.set(entry, word)?;
        if page.rights.execute {
            fence_instructions();
        }
        // A hart may keep that nothing was there, too: the process faults once more then, at what is mapped.
        if was_mapped { self.fence(space, Some(address)) } else { Ok(()) }
    }

    /// Nothing is at an address any more; what was.
    pub fn unmap(&mut self, space: Space, address: u64) -> Option<Page> {
        let entry = self.entry(space, address)?;
        let page = self.page(entry)?;
        self.set(entry, 0).ok()?;
        self.fence(space, Some(address)).ok()?;
        Some(page)
    }

    /// What an address leads to.
    pub fn find(&self, space: Space, address: u64) -> Option<Page> {
        self.page(self.entry(space, address)?)
    }

    /// The translations of an address, or of all, may have changed: needed only where a process faults at what is mapped.
    pub fn fence(&self, space: Space, address: Option<u64>) -> Result<(), Error> {
        let arguments = [space.0, address.unwrap_or(0), 0, 0, 0, 0, 0, 0];
        done(raw(PORTAL_PROCESS_FENCE, arguments))
    }

    /// Copies from a process. `BadPointer`: something of it is not mapped to be read; what was before is copied.
    pub fn copy_in(&self, space: Space, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.each_part(space, address, bytes.len(), |page, at, range| {
            if !page.rights.read {
                return Err(Error::BadPointer);
            }
            self.memory.read(at, &mut bytes[range]);
            Ok(())
        })
    }

    /// Copies to a process. `BadPointer`: something of it is not mapped to be written; what was before is copied.
    pub fn copy_out(&self, space: Space, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let mut is_code = false;
        self.each_part(space, address, bytes.len(), |page, at, range| {
            if !page.rights.write {
                return Err(Error::BadPointer);
            }
            self.memory.write(at, &bytes[range]);
            is_code |= page.rights.execute;
            Ok(())
        })?;
        if is_code {
            fence_instructions();
        }
        Ok(())
    }

    /// Calls `part` for each page of a range: with the page, where in memory, and which bytes of the range.
    fn each_part(
        &self,
        space: Space,
        address: u64,
        length: usize,
        mut part: impl FnMut(Page, usize, core::ops::Range<usize>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = 0;
        while done < length {
            let here = address.checked_add(done as u64).ok_or(Error::BadPointer)?;
            let page = self.find(space, here).ok_or(Error::BadPointer)?;
            let offset = (here % PAGE_SIZE) as usize;
            let count = (PAGE_SIZE as usize - offset).min(length - done);
            part(page, page.number as usize * PAGE_SIZE as usize + offset, done..done + count)?;
            done += count;
        }
        Ok(())
    }

    fn word(&self, entry: u64) -> u64 {
        self.pool.load(entry as usize * 8)
    }

    /// The table that an entry leads to.
    fn lower(&self, entry: u64) -> Option<u64> {
        let word = self.word(entry);
        (word & VALID != 0).then(|| (target(word) - self.given.tables) / PAGE_SIZE)
    }

    fn page(&self, entry: u64) -> Option<Page> {
        let word = self.word(entry);
        let has = |bit| word & bit != 0;
        has(VALID).then(|| Page {
            number: (target(word) - self.given.memory) / PAGE_SIZE,
            rights: Rights { read: has(READ), write: has(WRITE), execute: has(EXECUTE) },
        })
    }

    /// The entry of a leaf for an address, by its number in the pool.
    fn entry(&self, space: Space, address: u64) -> Option<u64> {
        if space.0 >= self.given.pool.spaces || address >> USER_ADDRESS_BITS != 0 {
            return None;
        }
        let mut table = space.0;
        for level in [2, 1] {
            table = self.lower(table * EACH + index(address, level) as u64)?;
        }
        Some(table * EACH + index(address, 0) as u64)
    }

    fn entry_or_new(&mut self, space: Space, address: u64) -> Result<u64, Error> {
        if space.0 >= self.given.pool.spaces || address >> USER_ADDRESS_BITS != 0 {
            return Err(Error::BadPointer);
        }
        let pool = self.given.pool;
        let mut table = space.0;
        for (level, first, count) in
            [(2, pool.first_directory(), pool.directories), (1, pool.first_leaf(), pool.leaves)]
        {
            let entry = table * EACH + index(address, level) as u64;
            table = match self.lower(entry) {
                Some(lower) => lower,
                None => {
                    let lower = self.take(first, count)?;
                    done(raw(PORTAL_PROCESS_LINK, [entry, lower, 0, 0, 0, 0, 0, 0]))?;
                    lower
                }
            };
        }
        Ok(table * EACH + index(address, 0) as u64)
    }

    fn set(&self, entry: u64, word: u64) -> Result<(), Error> {
        let entry = entry - self.given.pool.first_leaf() * EACH;
        done(raw(PORTAL_PROCESS_MAP, [entry, word, 0, 0, 0, 0, 0, 0]))
    }

    fn take(&mut self, first: u64, count: u64) -> Result<u64, Error> {
        let is_free = |table: &u64| self.used[*table as usize / 64] >> (table % 64) & 1 == 0;
        let table = (first..first + count).find(is_free).ok_or(Error::Exhausted)?;
        self.used[table as usize / 64] |= 1 << (table % 64);
        Ok(table)
    }

    fn free(&mut self, table: u64) {
        self.clear(table);
        self.used[table as usize / 64] &= !(1 << (table % 64));
    }

    /// Of a root, the half of user mode.
    fn clear(&self, table: u64) {
        let runs = if table < self.given.pool.spaces { RUNS / 2 } else { RUNS };
        for run in table * RUNS..table * RUNS + runs {
            let _ = done(raw(PORTAL_PROCESS_CLEAR, [run, 0, 0, 0, 0, 0, 0, 0]));
        }
    }
}
