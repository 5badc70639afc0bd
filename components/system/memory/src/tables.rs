//! Page tables, as `cairn_abi::page_table` has them.
//!
//! All tables lie in one pool of pages, seen here as words. Entries change by compare-and-exchange
//! only, so two threads that serve different callers may work on the same table.

use crate::frames::Frames;
use crate::settled::Settled;
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE, REGION_SIZE};
use cairn_abi::domain::DOMAINS_MAXIMUM;
use cairn_abi::memory::{SECTIONS_EACH, SECTIONS_MAXIMUM};
use cairn_abi::page_table::{
    ENTRIES, ROOT_LEVEL, index, is_table, page_entry, table_entry, target,
};
pub use cairn_abi::page_table::{EXECUTE, GLOBAL, OWN, READ, RESERVED, USER, VALID, WRITE};
use cairn_abi::process::STATUS_PAGE;
use cairn_abi::{Error, Space};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Page-table pages that can be taken.
pub type TablePool = Frames<{ (DOMAINS_MAXIMUM * SECTIONS_EACH + SECTIONS_MAXIMUM).div_ceil(64) }>;

/// Leaf tables that lead to a region.
const REGION_TABLES: usize = (REGION_SIZE / LEAF_SPAN) as usize;

/// The pool of page tables.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    /// The pool's words.
    pub words: &'a [AtomicI64],
    /// Physical address of its first page.
    pub physical: u64,
    /// Pages of it that are free for new tables.
    pub free: &'a TablePool,
    /// Number of the first of those in the pool.
    pub first_free: usize,
}

/// A table of a domain: its number in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root(pub usize);

impl<'a> Tables<'a> {
    /// The root of a space.
    pub fn root(&self, space: Space) -> Option<Root> {
        self.number(space.root()).map(Root)
    }

    fn number(&self, physical: u64) -> Option<usize> {
        let number = (physical.checked_sub(self.physical)? / PAGE_SIZE) as usize;
        (number < self.words.len() / ENTRIES).then_some(number)
    }

    /// The entry of a table of this level that leads to `address`.
    fn entry(&self, table: usize, address: u64, level: u32) -> Option<&'a AtomicI64> {
        self.words.get(table * ENTRIES + index(address, level))
    }

    /// The entries that lead to all of user mode below `root`.
    pub fn to_user_mode(&self, root: Root) -> Option<&'a [AtomicI64]> {
        self.words.get(root.0 * ENTRIES..)?.get(..ENTRIES / 2)
    }

    /// The entry that leads to the status page of a server of processes, which is in the kernel domain's half.
    pub fn to_status_page(&self, root: Root) -> Option<&'a AtomicI64> {
        self.entry(root.0, STATUS_PAGE, ROOT_LEVEL)
    }

    /// The entries that lead to a region, which lies below one directory.
    pub fn to_region(&self, root: Root, start: u64) -> Option<&'a [AtomicI64]> {
        self.to_leaves(root, start, REGION_TABLES)
    }

    /// The entries that lead to so many leaf tables from an address on, below one directory.
    pub fn to_leaves(&self, root: Root, start: u64, count: usize) -> Option<&'a [AtomicI64]> {
        let directory = self.below(self.entry(root.0, start, ROOT_LEVEL)?)?;
        self.words.get(directory * ENTRIES + index(start, 1)..)?.get(..count)
    }

    /// Lets the tables of the region at `from` be those of the region at `to`, whose addresses nothing has below this root.
    /// `Busy`: something has.
    pub fn move_region(&self, root: Root, from: u64, to: u64) -> Result<(), Error> {
        let old = self.entry(root.0, from, ROOT_LEVEL).ok_or(Error::BadArgument)?;
        let new = self.entry(root.0, to, ROOT_LEVEL).ok_or(Error::BadArgument)?;
        let moves = !core::ptr::eq(old, new);
        if moves && new.load(Relaxed) != 0 {
            return Err(Error::Busy);
        }
        let entries = self.to_region(root, from).ok_or(Error::BadArgument)?;
        let mut words = [0; REGION_TABLES];
        for (word, entry) in words.iter_mut().zip(entries) {
            *word = entry.swap(0, Relaxed);
        }
        if moves {
            new.store(old.swap(0, Relaxed), Relaxed);
        }
        let entries = self.to_region(root, to).ok_or(Error::BadArgument)?;
        entries.iter().zip(words).for_each(|(entry, word)| entry.store(word, Relaxed));
        Ok(())
    }

    /// The table that an entry of a table names. An entry that is not valid but not zero belongs to a
    /// dead domain.
    fn follow(&self, entry: u64) -> Result<Option<usize>, Error> {
        if entry == 0 {
            return Ok(None);
        }
        if entry & VALID == 0 {
            return Err(Error::Dead);
        }
        self.number(target(entry)).map(Some).ok_or(Error::BadArgument)
    }

    /// The leaf table that leads to `address`, as far as there are tables; of a dead domain too.
    pub fn leaf(&self, root: Root, address: u64) -> Option<&'a [AtomicI64]> {
        let mut table = root.0;
        for level in [2, 1] {
            table = self.below(self.entry(table, address, level)?)?;
        }
        self.words.get(table * ENTRIES..(table + 1) * ENTRIES)
    }

    /// The entry of the page at `address`, as far as there are tables; of a dead domain too.
    pub fn find(&self, root: Root, address: u64) -> Option<&'a AtomicI64> {
        self.leaf(root, address)?.get(index(address, 0))
    }

    /// The entry of the page at `address`; makes the leaf table that leads there. The directory above is the layout's, so
    /// roots stay as they are.
    pub fn grow(&self, root: Root, address: u64) -> Result<&'a AtomicI64, Error> {
        let next = |table, level| {
            let entry = self.entry(table, address, level).ok_or(Error::BadArgument)?;
            Ok((entry, self.follow(entry.load(Relaxed) as u64)?))
        };
        let (_, directory) = next(root.0, ROOT_LEVEL)?;
        let leaf = match next(directory.ok_or(Error::BadArgument)?, 1)? {
            (_, Some(leaf)) => leaf,
            (entry, None) => self.make(entry)?,
        };
        self.entry(leaf, address, 0).ok_or(Error::BadArgument)
    }

    /// Makes a table and enters it, unless another thread is faster.
    fn make(&self, entry: &AtomicI64) -> Result<usize, Error> {
        let new = self.take().ok_or(Error::Exhausted)?;
        let named = table_entry(self.physical + new as u64 * PAGE_SIZE) as i64;
        match entry.compare_exchange(0, named, Relaxed, Relaxed) {
            Ok(_) => Ok(new),
            Err(other) => {
                self.give(new, Settled::never_reached());
                self.follow(other as u64)?.ok_or(Error::Busy)
            }
        }
    }

    /// Takes the leaf table out that leads to `address`, made at run time.
    /// Its number goes to [`Tables::give`], when it is empty. No other thread may be at work in it.
    pub(crate) fn cut(&self, root: Root, address: u64) -> Option<usize> {
        let directory = self.below(self.entry(root.0, address, ROOT_LEVEL)?)?;
        let entry = self.entry(directory, address, 1)?;
        let table = self.below(entry).filter(|table| *table >= self.first_free)?;
        entry.store(0, Relaxed);
        Some(table)
    }

    /// A free table, which is empty: the layout made all of them so, and each is when it is given back.
    fn take(&self) -> Option<usize> {
        Some(self.first_free + self.free.take()?)
    }

    /// Gives back a table that is empty.
    pub(crate) fn give(&self, number: usize, _: Settled) {
        if let Some(number) = number.checked_sub(self.first_free) {
            self.free.give(number);
        }
    }

    /// The table that an entry names, of a dead domain too.
    fn below(&self, entry: &AtomicI64) -> Option<usize> {
        let word = entry.load(Relaxed) as u64;
        if word != 0 && is_table(word) { self.number(target(word)) } else { None }
    }
}

/// The tables behind `entries` lose or regain their valid bits: every address there faults, or none does that did not before.
pub fn set_reachable(entries: &[AtomicI64], reachable: bool) {
    let valid = VALID as i64;
    for entry in entries {
        // A thread of the domain may be taking the entry away, or making it.
        let _ = entry.fetch_update(Relaxed, Relaxed, |word| {
            (word != 0).then_some(if reachable { word | valid } else { word & !valid })
        });
    }
}

/// Whether any address behind them is reached.
pub fn is_reachable(entries: &[AtomicI64]) -> bool {
    entries.iter().any(|entry| entry.load(Relaxed) as u64 & VALID != 0)
}

/// Claims an entry that is empty.
pub fn reserve(entry: &AtomicI64) -> bool {
    entry.compare_exchange(0, RESERVED as i64, Relaxed, Relaxed).is_ok()
}

/// Notes the page of an entry that was claimed; [`restore`] maps it.
pub fn prepare(entry: &AtomicI64, physical: u64, rights: u64) {
    entry.store((page_entry(physical, rights) & !VALID | RESERVED) as i64, Relaxed);
}

/// Maps a page whatever is there.
pub fn map_over(entry: &AtomicI64, physical: u64, rights: u64) {
    entry.store(page_entry(physical, rights) as i64, Relaxed);
}

/// Empties an entry; the page that was mapped, if any.
pub fn unmap(entry: &AtomicI64) -> Option<u64> {
    let word = entry.swap(0, Relaxed) as u64;
    (word & VALID != 0).then_some(target(word))
}

/// Makes the page of an entry unreachable, but keeps its address in it; false if nothing is mapped, or
/// another thread was first.
pub fn withdraw(entry: &AtomicI64) -> bool {
    let word = entry.load(Relaxed);
    let withdrawn = word & !(VALID as i64) | RESERVED as i64;
    word as u64 & VALID != 0 && entry.compare_exchange(word, withdrawn, Relaxed, Relaxed).is_ok()
}

/// Maps the page whose address is in an entry: the end of [`prepare`], or undoes [`withdraw`].
pub fn restore(entry: &AtomicI64) {
    let word = entry.load(Relaxed);
    entry.store(word & !(RESERVED as i64) | VALID as i64, Relaxed);
}

/// The same, if it is there still.
pub fn give_back(entry: &AtomicI64) {
    if entry.load(Relaxed) as u64 & RESERVED != 0 {
        restore(entry);
    }
}

/// Maps the page of an entry that was withdrawn, which is not its owner's alone any more: no window of a call takes it, and nothing gives it back.
pub fn lend(entry: &AtomicI64) {
    let word = entry.load(Relaxed);
    entry.store(word & !((RESERVED | OWN) as i64) | VALID as i64, Relaxed);
}

/// Whether a page is mapped that its owner has lent.
pub fn is_lent(entry: &AtomicI64) -> bool {
    entry.load(Relaxed) as u64 & (VALID | OWN) == VALID
}

/// The page whose address is in an entry, mapped or withdrawn.
pub fn page(entry: &AtomicI64) -> u64 {
    target(entry.load(Relaxed) as u64)
}

/// The page that an entry maps.
pub fn mapped(entry: &AtomicI64) -> Option<u64> {
    let word = entry.load(Relaxed) as u64;
    (word & VALID != 0).then_some(target(word))
}

/// Each of two entries gets what the other has.
pub fn exchange(one: &AtomicI64, other: &AtomicI64) {
    let word = one.load(Relaxed);
    one.store(other.load(Relaxed), Relaxed);
    other.store(word, Relaxed);
}
