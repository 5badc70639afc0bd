//! A pager is held: who misses a page of its own waits, and executes its instruction again when the pager goes on.
//!
//! The portal of a range's faults takes a stack of the pager as a call does, and waits for one like that.

use crate::blocks::Kind;
use crate::machine::Machine;
use crate::make::Maker;
use crate::make::leads::{Lead, entry};
use cairn_abi::InstanceId;
use cairn_abi::record::{Instance, PagedRange};

impl Maker {
    /// Whether all whom an instance provides with pages can wait: not who replaces it, nor those without which the system ends, which do that for
    /// it. `hands_over`: its life ends, and the next has its pages; neither is so of who
    /// lives on, and who moves provides nobody.
    pub(super) fn can_leave_faults<M: Machine>(
        &self,
        machine: &M,
        pager: InstanceId,
        holder: InstanceId,
        hands_over: bool,
    ) -> bool {
        let mut ranges = machine.provided_by(pager);
        ranges.all(|range| {
            // Who goes has no threads.
            let client = self.instances.get(range.client).ok();
            let can_wait = |one: &Instance| one.number != holder && one.essential == 0;
            hands_over && client.is_none_or(can_wait)
        })
    }

    /// The portal by which faults of a range call its pager, interposers apart, if that is this instance.
    pub(in crate::make) fn lead_of_faults<M: Machine>(
        &self,
        machine: &M,
        pager: InstanceId,
        range: &PagedRange,
    ) -> Option<Lead> {
        if range.pager != pager {
            return None;
        }
        let client = self.instances.get(range.client).ok()?;
        let code = self.portal_of_range(machine, client.domain, range)?;
        let export = machine.layout().pager(pager)?;
        let entry = entry(machine, Kind::Export(export as u32), 0);
        // Who moves provides nobody with pages.
        let at = (client.domain, 0, 0);
        Some(Lead { code, elsewhere: 0, client: range.client, server: pager, at, entry })
    }
}
