//! Which instances there are: what is said of a new one, by the layout or whoever loads it, and its end for good.

use crate::account::Said;
use crate::live::Entry;
use crate::manager::Manager;
use crate::sections;
use crate::tables::is_reachable;
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE, activation_from};
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// Pages that an instance may have beside those of the layout.
pub(crate) fn allowed(record: Entry<Instance>) -> u32 {
    (record.memory() / PAGE_SIZE).saturating_sub(record.memory_used() / PAGE_SIZE) as u32
}

impl Manager<'_> {
    /// What a record says of its instance.
    pub(crate) fn said(&self, record: Entry<Instance>) -> Said {
        let start = record.start_address();
        let segments = self.segments_of(record);
        let end = segments.map(|segment| segment.address() + segment.size() - start);
        let range = self.loaded_range(record.number());
        let range = range.filter(|range| range.client() == record.number());
        let end = end.chain(range.map(|range| range.address() + range.size() - start));
        let end = end.filter(|end| *end < REGION_SIZE).max().unwrap_or(0);
        Said { limit: allowed(record), base: activation_from(end, record.region()) as u32 }
    }

    /// There is a new instance, with the memory that its record says. [`Error::Busy`]: one of this number is still there.
    pub fn add_domain(&self, instance: InstanceId) -> Result<(), Error> {
        let record = self.place(instance)?;
        self.state.account(instance)?.add(self.said(record))
    }

    /// An instance is no more. [`Error::Busy`]: it is to be killed and released first. Its page table leads nowhere then, and
    /// its number nowhere from now on. So is a pager as long as a client of its is there that the description has; others have none
    /// from now on.
    pub fn retire_domain(&self, instance: InstanceId) -> Result<(), Error> {
        let is_reachable = is_reachable(self.reach(instance)?);
        let account = self.account(instance)?;
        let maps_any = account.sections.load(Relaxed) != 0;
        // What it handed over goes with it, since its next life did not come.
        let hands_over = account.is_succeeded.load(Relaxed);
        let has_more = self.has_more_than_laid_out(instance)? && !hands_over;
        if is_reachable || maps_any || has_more || self.provides(instance) {
            return Err(Error::Busy);
        }
        if hands_over {
            account.is_succeeded.store(false, Relaxed);
            let mut next = Some(0);
            while let Some(at) = next {
                next = self.release_ranges(self.record(instance)?, at);
            }
        }
        self.end_ranges(instance);
        self.end_pager(instance);
        account.retire();
        // What others offered to it, or are about to, is not for its successor.
        (0..sections::COUNT).for_each(|number| self.withdraw_offer(number, instance));
        Ok(())
    }
}
