//! Heaps and stacks that grow: addresses of an instance that the layout left without memory get it while the instance runs, out of
//! its quota, and keep it until it ends.
//!
//! A heap asks for pages before it uses them, so who allocates learns that there are no more. A stack cannot ask: it grows by the
//! page fault of who uses it, by way of the supervisor, who asks here whether a fault can be mended. So nobody pays for it who does
//! not grow.

use crate::live::Entry;
use crate::manager::Manager;
use crate::settled::Settled;
use crate::tables;
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::record::{CONTENT_CLIENT_GROWTH, CONTENT_GROWTH, Instance};
use cairn_abi::{DomainId, Error, InstanceId};
use core::ops::Range;

/// Page-table entries that one step of a death looks at.
const ENTRIES_OF_STEP: u64 = 32;

impl<'a> Manager<'a> {
    /// The addresses into which an instance grows.
    pub(crate) fn growth(
        &self,
        record: Entry<'a, Instance>,
    ) -> impl Iterator<Item = Range<u64>> + use<'a> {
        let segments = self.segments_of(record);
        let segments = segments
            .filter(|segment| matches!(segment.content(), CONTENT_GROWTH | CONTENT_CLIENT_GROWTH));
        segments.map(|segment| segment.address()..segment.address() + segment.size())
    }

    /// Maps zeroed pages at addresses into which an instance grows. `BadArgument`: they are not all such; `Busy`: one has its page
    /// already, or gets it now.
    pub fn extend(&self, instance: InstanceId, address: u64, pages: u64) -> Result<(), Error> {
        let size = pages.checked_mul(PAGE_SIZE).filter(|size| *size > 0);
        let end = size.and_then(|size| address.checked_add(size)).ok_or(Error::BadArgument)?;
        let holds = |range: Range<u64>| range.start <= address && end <= range.end;
        let is_meant = self.growth(self.record(instance)?).any(holds);
        if !is_meant || !address.is_multiple_of(PAGE_SIZE) {
            return Err(Error::BadArgument);
        }
        self.charge(instance, pages)?;
        let root = self.root(instance)?;
        let entry = |page: u64| self.tables.find(root, address + page * PAGE_SIZE);
        let claimed =
            (0..pages).take_while(|page| entry(*page).is_some_and(tables::reserve)).count();
        let mapped = match claimed as u64 == pages {
            true => self.map_fresh(instance, address, pages),
            false => {
                self.clear(instance, address, claimed as u64);
                Err(Error::Busy)
            }
        };
        mapped.inspect_err(|_| self.refund(instance, pages))?;
        self.settle();
        Ok(())
    }

    /// A thread of a domain missed the page at an address: it is there now, if an instance of the domain grows there. `NotFound`: none
    /// does; `Exhausted`: its quota does not hold one more.
    pub fn grow_at(&self, domain: DomainId, address: u64) -> Result<(), Error> {
        let instance = self.grows_at(domain, address).ok_or(Error::NotFound)?;
        match self.extend(instance, address & !(PAGE_SIZE - 1), 1) {
            // Another thread was faster, or is about to be: this one comes again if it was too early.
            Err(Error::Busy) => Ok(()),
            other => other,
        }
    }

    /// The instance of a domain that grows at an address.
    pub fn grows_at(&self, domain: DomainId, address: u64) -> Option<InstanceId> {
        let mut instances = self.record.instances.iter().filter(|one| one.is_there());
        // A copy of an instance has the same addresses, in another domain.
        let record = instances
            .find(|one| one.domain() == domain && (address ^ one.start_address()) < REGION_SIZE)?;
        let grows = self.growth(record).any(|range| range.contains(&address));
        grows.then(|| record.number())
    }

    /// One step of giving back what a dead instance has grown by: from 0, the next one's place; `None`: that was all.
    pub(crate) fn release_growth(&self, record: Entry<'a, Instance>, at: u64) -> Option<u64> {
        let (instance, root) = (record.number(), self.root_of(record).ok()?);
        let (mut before, mut left) = (0, ENTRIES_OF_STEP);
        let hands_over = self.hands_over(instance) == Ok(true);
        for range in self.growth(record) {
            let pages = (range.end - range.start) / PAGE_SIZE;
            for page in at.saturating_sub(before)..pages {
                if left == 0 {
                    return Some(before + page);
                }
                left -= 1;
                let entry = self.tables.find(root, range.start + page * PAGE_SIZE);
                if let Some(physical) = entry.and_then(tables::unmap) {
                    if hands_over {
                        self.lose_page(instance, physical);
                    }
                    self.give_frame(physical, Settled::by_death());
                    self.refund(instance, 1);
                }
            }
            before += pages;
        }
        None
    }
}
