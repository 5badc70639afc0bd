//! Ranges of addresses whose pages a pager provides (`docs/pagers.md`).
//!
//! The portal of a range's faults maps what the pager answers: a page of the pager's own, in the entry of the page that was missed. So
//! entries come without the manager, which looks at them when they are to go: a page is given back to the pager's quota
//! only when no client's entry leads to it, so a pager of which a client still has a page cannot hand it on.

use crate::live::Entry;
use crate::manager::Manager;
use crate::tables;
use cairn_abi::address::{PAGE_SIZE, PAGE_TABLES};
use cairn_abi::page_table::PTE_LOST;
use cairn_abi::record::{Instance, PagedRange};
use cairn_abi::{Error, InstanceId};
use core::mem::offset_of;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Page-table entries that one step of a death looks at.
const ENTRIES_OF_STEP: usize = 32;
/// Below a range's number in a cursor: a page of it.
const PAGE_BITS: u32 = 16;

/// What a pager may know of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its number.
    pub number: u64,
    /// Its pages.
    pub pages: u64,
    /// Its section, which other clients can map as well; or [`NO_SECTION`](cairn_abi::record::NO_SECTION).
    pub section: u64,
}

impl<'a> Manager<'a> {
    /// The page-table entries of a range.
    fn entries_of(&self, range: Entry<PagedRange>) -> &'a [AtomicI64] {
        let first = (range.entries().wrapping_sub(PAGE_TABLES) / 8) as usize;
        let end = first.saturating_add((range.size() / PAGE_SIZE) as usize);
        self.tables.words.get(first..end).unwrap_or(&[])
    }

    /// The ranges that a pager serves, each with its number.
    fn ranges_of(
        &self,
        pager: InstanceId,
    ) -> impl Iterator<Item = (usize, Entry<'a, PagedRange>)> + use<'a> {
        self.record.ranges.iter().enumerate().filter(move |(_, range)| range.pager() == pager)
    }

    /// The range that a pager serves as the `at`th.
    pub fn served(&self, pager: InstanceId, at: u64) -> Result<Served, Error> {
        self.account(pager)?;
        let (number, range) = self.ranges_of(pager).nth(at as usize).ok_or(Error::NotFound)?;
        let (number, pages) = (number as u64, range.size() / PAGE_SIZE);
        Ok(Served { number, pages, section: range.section().into() })
    }

    /// Whose a range is that a pager serves; whether it lives, else it has none of the pages, and none before its next life; how
    /// many lives have ended; and the range's pages.
    pub fn client(
        &self,
        pager: InstanceId,
        number: u64,
    ) -> Result<(InstanceId, bool, u64, u64), Error> {
        let range = self.range_of(pager, number)?;
        let account = self.account(range.client()).ok();
        let lives = account.is_some_and(|account| !account.is_released.load(Relaxed));
        let ended = account.map_or(0, |account| account.ended.load(Relaxed).into());
        Ok((range.client(), lives, ended, range.size() / PAGE_SIZE))
    }

    /// The range of this number, if this is its pager.
    fn range_of(&self, pager: InstanceId, number: u64) -> Result<Entry<'a, PagedRange>, Error> {
        self.account(pager)?;
        let range = usize::try_from(number).ok().and_then(|at| self.record.ranges.get(at));
        range.filter(|range| range.pager() == pager).ok_or(Error::NotFound)
    }

    /// Whether the client of a range has a page of it.
    pub fn has_page(&self, pager: InstanceId, number: u64, page: u64) -> Result<bool, Error> {
        let entry = self.entries_of(self.range_of(pager, number)?).get(page as usize);
        Ok(tables::mapped(entry.ok_or(Error::BadArgument)?).is_some())
    }

    /// Takes pages of a range out of its client's page table: the next access to one is a fault again.
    pub fn unmap_range(
        &self,
        pager: InstanceId,
        number: u64,
        first: u64,
        pages: u64,
    ) -> Result<(), Error> {
        let range = self.range_of(pager, number)?;
        let end = first.checked_add(pages).ok_or(Error::BadArgument)?;
        let entries = self.entries_of(range);
        let entries = entries.get(first as usize..end as usize).ok_or(Error::BadArgument)?;
        for entry in entries.iter().filter(|entry| tables::mapped(entry).is_some()) {
            entry.store(0, Relaxed);
        }
        self.settle();
        Ok(())
    }

    /// Whether an instance is one that provides ranges with pages.
    pub(crate) fn is_pager(&self, instance: InstanceId) -> bool {
        self.ranges_of(instance).next().is_some()
    }

    /// Whether a pager has ended so that its next life has the pages that it allocated: its clients still have them.
    pub(crate) fn hands_over(&self, pager: InstanceId) -> Result<bool, Error> {
        Ok(self.account(pager)?.is_succeeded.load(Relaxed))
    }

    /// Pages in a row that a pager has allocated, the first from an address of its region on: address and number. `NotFound`: there are none.
    pub fn kept(&self, pager: InstanceId, from: u64) -> Result<(u64, u64), Error> {
        let record = self.record(pager)?;
        let (root, start) = (self.root_of(record)?, record.start_address());
        let first = from.max(start + self.base(pager)?).next_multiple_of(PAGE_SIZE);
        let end = start + record.entries_span();
        let is_its = |address: &u64| {
            let entry = self.tables.find(root, *address);
            entry.is_some_and(|one| tables::mapped(one).is_some() && !tables::is_lent(one))
        };
        let mut pages = (first..end).step_by(PAGE_SIZE as usize);
        let address = pages.find(is_its).ok_or(Error::NotFound)?;
        Ok((address, 1 + pages.take_while(is_its).count() as u64))
    }

    /// Whether a client has a page of a pager's of which `which` holds: the pager's own ranges are looked at.
    pub(crate) fn is_provided(&self, pager: InstanceId, which: impl Fn(u64) -> bool) -> bool {
        self.ranges_of(pager).any(|(_, range)| {
            let mut mapped = self.entries_of(range).iter().filter_map(tables::mapped);
            mapped.any(&which)
        })
    }

    /// A page of a pager's is another's soon, and others of its stay: whoever has this one loses it.
    pub(crate) fn lose_page(&self, pager: InstanceId, page: u64) {
        let mut was_mapped = false;
        for (_, range) in self.ranges_of(pager) {
            let entries = self.entries_of(range).iter();
            for entry in entries.filter(|entry| tables::mapped(entry) == Some(page)) {
                entry.store(PTE_LOST as i64, Relaxed);
                was_mapped = true;
            }
        }
        if was_mapped {
            self.settle();
        }
    }

    /// Whether an instance of the description that is there gets pages from this one.
    pub(crate) fn provides(&self, pager: InstanceId) -> bool {
        let described =
            self.ranges_of(pager).take_while(|(at, _)| *at < self.header.ranges_described());
        described.map(|(_, range)| range).any(|range| self.account(range.client()).is_ok())
    }

    /// The ranges of a client that retires are no more, and its page tables another one's.
    pub(crate) fn end_ranges(&self, client: InstanceId) {
        for range in self.record.ranges.iter().filter(|range| range.client() == client) {
            range.set(offset_of!(PagedRange, size), 0u64);
            range.set(offset_of!(PagedRange, client), InstanceId(0));
        }
    }

    /// One step of ending what a dead instance provides and what is provided to it. The cursor of the next one; `None`: that was all.
    /// Of a dead pager's pages the clients have none any more, and get no others there before their next lives: what was
    /// on them is lost.
    pub(crate) fn release_ranges(&self, dead: Entry<Instance>, at: u64) -> Option<u64> {
        let (mut number, mut page) =
            ((at >> PAGE_BITS) as usize, at as usize & ((1 << PAGE_BITS) - 1));
        while let Some(range) = self.record.ranges.get(number) {
            let is_client =
                self.record(range.client()).is_ok_and(|client| client.domain() == dead.domain());
            let ends = range.pager() == dead.number() && self.hands_over(dead.number()) != Ok(true);
            if is_client || ends {
                let entries = self.entries_of(range);
                let end = (page + ENTRIES_OF_STEP).min(entries.len());
                let mut was_mapped = false;
                for entry in entries.get(page..end).unwrap_or(&[]) {
                    let is_mapped = tables::mapped(entry).is_some();
                    if is_client {
                        entry.store(0, Relaxed);
                    } else if is_mapped {
                        entry.store(PTE_LOST as i64, Relaxed);
                    }
                    was_mapped |= is_mapped;
                }
                if was_mapped {
                    self.settle();
                }
                if end < entries.len() {
                    return Some((number as u64) << PAGE_BITS | end as u64);
                }
            }
            (number, page) = (number + 1, 0);
        }
        if let Ok(account) = self.account(dead.number()) {
            account.is_released.store(true, Relaxed);
            account.ended.fetch_add(1, Relaxed);
        }
        None
    }
}
