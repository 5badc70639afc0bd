//! The content of an instance that is being made: pages of who loads it, or of the shelf.

use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables::{self, READ, Root, USER, WRITE};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE, STARTUP_OFFSET};
use cairn_abi::record::{CONTENT_CONSTANTS, CONTENT_DATA};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// Pages that are to be given, and where.
struct Gift {
    instance: InstanceId,
    caller: Root,
    /// The first page at its owner, and in the instance.
    from: u64,
    to: u64,
    pages: u64,
    /// What the instance may do with them.
    rights: u64,
}

impl Manager<'_> {
    /// Pages of `caller` become the content of an instance that is being made, `offset` bytes behind its region's beginning. Its own
    /// pages, which it allocated, leave it; those of the shelf are shared, where nobody can write them. A page of content
    /// is given once. `content` is that of its segment, which says the rights; the startup page has that of constants.
    pub fn give(
        &self,
        caller: InstanceId,
        instance: InstanceId,
        (offset, address): (u64, u64),
        pages: u64,
        content: u16,
    ) -> Result<(), Error> {
        let most = REGION_SIZE / PAGE_SIZE;
        let whole = (offset | address).is_multiple_of(PAGE_SIZE);
        if !whole || !(1..=most).contains(&pages) || offset >= REGION_SIZE {
            return Err(Error::BadArgument);
        }
        let number = self.state.numbers.get(instance)?;
        number.take(Stage::Made)?;
        let result = self.give_to(caller, instance, (offset, address), pages, content);
        number.set(Stage::Made);
        result
    }

    fn give_to(
        &self,
        caller: InstanceId,
        instance: InstanceId,
        (offset, address): (u64, u64),
        pages: u64,
        content: u16,
    ) -> Result<(), Error> {
        let (record, root) = (self.place(instance)?, self.root(caller)?);
        let to = record.start_address() + offset;
        let rights = self.rights_at(instance, offset, pages, content)?;
        let gift = Gift { instance, caller: root, from: address, to, pages, rights };
        let target = self.tables.root(record.space()).ok_or(Error::NotFound)?;
        for page in 0..pages {
            let entry = self.tables.find(target, to + page * PAGE_SIZE);
            if entry.ok_or(Error::BadArgument)?.load(Relaxed) != 0 {
                return Err(Error::Busy);
            }
        }
        if self.is_shelf(&gift) {
            self.share_shelf(&gift, target)
        } else {
            let account = self.account(caller)?;
            account.while_not_copied(|| self.take_over_pages(caller, &gift, target))
        }
    }

    /// The page-table bits of such content there.
    fn rights_at(
        &self,
        instance: InstanceId,
        offset: u64,
        pages: u64,
        content: u16,
    ) -> Result<u64, Error> {
        if (offset, pages, content) == (STARTUP_OFFSET, 1, CONTENT_CONSTANTS) {
            // It can be passed on to nobody.
            return Ok(USER | READ);
        }
        let (record, slot) = (self.place(instance)?, self.places(instance)?);
        let from = record.start_address() + offset;
        let to = from + pages * PAGE_SIZE;
        let mut segments = self.record.segments.part(slot.segments);
        let found = segments.find(|segment| {
            let is_it = segment.instance() == instance && segment.content() == content;
            is_it && segment.address() <= from && to <= segment.address() + segment.size()
        });
        let is_content = content <= CONTENT_DATA;
        let found = found.filter(|_| is_content).map(|segment| u64::from(segment.flags()));
        found.ok_or(Error::BadArgument)
    }

    /// Whether the first page is of the shelf.
    fn is_shelf(&self, gift: &Gift) -> bool {
        let entry = self.tables.find(gift.caller, gift.from);
        entry.and_then(tables::mapped).is_some_and(|page| self.is_of_shelf(page))
    }

    pub(super) fn is_of_shelf(&self, page: u64) -> bool {
        let shelf = self.header.shelf;
        (shelf.start..shelf.end).contains(&page)
    }

    /// Maps pages of the shelf, which no quota pays for.
    fn share_shelf(&self, gift: &Gift, target: Root) -> Result<(), Error> {
        let source = |page: u64| {
            let entry = self.tables.find(gift.caller, gift.from + page * PAGE_SIZE);
            entry.and_then(tables::mapped).filter(|page| self.is_of_shelf(*page))
        };
        if gift.rights & WRITE != 0 || !(0..gift.pages).all(|page| source(page).is_some()) {
            return Err(Error::NotAllowed);
        }
        for page in 0..gift.pages {
            let entry = self.tables.find(target, gift.to + page * PAGE_SIZE);
            if let (Some(entry), Some(physical)) = (entry, source(page)) {
                tables::map_over(entry, physical, gift.rights);
            }
        }
        Ok(())
    }

    /// Takes pages from their owner, who allocated them, and maps them. The instance pays for them from now on.
    fn take_over_pages(&self, caller: InstanceId, gift: &Gift, target: Root) -> Result<(), Error> {
        let number = self.state.numbers.get(gift.instance)?;
        let used = u64::from(number.pages.load(Relaxed)) + gift.pages;
        if used > self.place(gift.instance)?.memory() / PAGE_SIZE {
            return Err(Error::Exhausted);
        }
        self.withdraw(caller, gift.from, gift.pages)
            .map_err(|error| if error == Error::NotFound { Error::NotAllowed } else { error })?;
        for page in 0..gift.pages {
            let source = self.tables.find(gift.caller, gift.from + page * PAGE_SIZE);
            let entry = self.tables.find(target, gift.to + page * PAGE_SIZE);
            if let (Some(source), Some(entry)) = (source, entry) {
                let physical = tables::page(source);
                source.store(0, Relaxed);
                tables::map_over(entry, physical, gift.rights);
            }
        }
        self.refund(caller, gift.pages);
        number.pages.fetch_add(gift.pages as u32, Relaxed);
        Ok(())
    }
}
