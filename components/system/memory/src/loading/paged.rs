//! The range of addresses of an instance that is loaded whose pages another one provides.
//!
//! It lies behind the stacks. A loadable number has a place for one range in the record. The pager is found by its name, here and in the
//! portal manager, which makes the portal by which faults there call it: whoever loads can make neither believe in another.

use super::New;
use crate::live::Entry;
use crate::manager::Manager;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::is_name;
use cairn_abi::record::{NO_SECTION, PagedRange};
use cairn_abi::{Error, InstanceId};
use cairn_loader::package::Head;
use core::mem::offset_of;

impl<'a> Manager<'a> {
    /// The place of the range of a loadable number.
    pub(crate) fn loaded_range(&self, number: InstanceId) -> Option<Entry<'a, PagedRange>> {
        self.record.ranges.get(self.header.loadable_range(number)?)
    }

    /// The pager of what a package calls so, if it has a range with one. `NotFound`: there is no such instance.
    pub(super) fn pager_of(&self, head: &Head) -> Result<Option<InstanceId>, Error> {
        let Some((pager, _)) = head.pager() else { return Ok(None) };
        let mut instances = self.record.instances.iter().filter(|one| one.is_there());
        let found = instances.find(|one| is_name(&one.name(), pager.as_bytes()));
        let number = found.ok_or(Error::NotFound)?.number();
        // One that is being made serves nobody.
        self.account(number).map_err(|_| Error::NotFound)?;
        Ok(Some(number))
    }

    /// Notes the range of a new instance, if it has one.
    pub(super) fn write_range(&self, new: &New) {
        let (Some(pager), Some(place)) = (new.pager, self.loaded_range(new.number)) else { return };
        let range = new.placement.paged();
        place.write(&PagedRange {
            client: new.number,
            pager,
            section: NO_SECTION,
            writable: 1,
            address: new.address(range.start),
            size: range.end - range.start,
            entries: new.record.entries + range.start / PAGE_SIZE * 8,
        });
    }

    /// A pager is no more: nobody provides those who are loaded with its pages. No portal leads there any more.
    pub(crate) fn end_pager(&self, pager: InstanceId) {
        let ranges = self.record.ranges.iter().skip(self.header.ranges_described());
        for range in ranges.filter(|range| range.pager() == pager) {
            range.set(offset_of!(PagedRange, pager), InstanceId(0));
        }
    }
}
