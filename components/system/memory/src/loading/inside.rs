//! One of several instances in a domain gets other content: what its fellows have counted on, and how their calls, which need no portal, find it.
//!
//! They go by the words of a page of the caller's, which its domain can only read, at the indexes of their portals.

use super::successor::{NUMBERS, word};
use crate::live::Entry;
use crate::manager::Manager;
use crate::tables;
use cairn_abi::address::{INSIDE_OFFSET, PAGE_SIZE};
use cairn_abi::record::Instance;
use cairn_abi::startup::Startup;
use cairn_interfaces::SuccessorError;
use cairn_loader::package::Head;
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

/// Where in the word with the numbers of an instance those of the portals before its own are.
const PORTALS_BEFORE_SHIFT: usize = (offset_of!(Startup, portals_before) - NUMBERS) * 8;

impl Manager<'_> {
    /// Whether a package is for the place that an instance has among those in its domain: what it calls is at the same portals, and who calls it
    /// there, on their own stacks, has counted enough for that.
    pub(super) fn check_beside_fellows(
        &self,
        record: Entry<Instance>,
        head: &Head,
    ) -> Result<(), SuccessorError> {
        let is_alone = record.is_alone();
        let before = match is_alone {
            true => 0,
            false => (word(self.startup(record)?, NUMBERS) >> PORTALS_BEFORE_SHIFT) as u16,
        };
        if head.numbers().portals_before != before {
            return Err(SuccessorError::Portals);
        }
        // Its own calls to them are by portals.
        let counted = self.client_stacks(record).map(|stack| stack.size()).min();
        let is_called = !is_alone && head.exports().next().is_some();
        match is_called && head.numbers().call_stack > counted.unwrap_or(0) {
            true => Err(SuccessorError::Stack),
            false => Ok(()),
        }
    }

    /// Calls of its fellows to an instance, which are dead as well, enter it where the record says.
    pub(super) fn relink_inside(&self, instance: Entry<Instance>) {
        if instance.is_alone() {
            return;
        }
        for portal in self.record.portals.iter() {
            let export = self.record.exports.get(portal.export() as usize);
            let export = export.filter(|export| export.instance() == instance.number());
            let client = self.place(portal.client());
            let client = client.ok().filter(|client| client.leader() == instance.leader());
            let (Some(export), Some(client)) = (export, client) else { continue };
            let Ok(root) = self.root_of(client) else { continue };
            let page = self.tables.find(root, client.start_address() + INSIDE_OFFSET);
            let words = page.map_or(&[][..], |page| self.words(tables::page(page), PAGE_SIZE));
            let method = export.read().first_method + portal.read().method;
            let method = self.record.methods.get(method as usize);
            if let (Some(word), Some(method)) = (words.get(portal.index() as usize), method)
                // The others are called by portals.
                && word.load(Relaxed) != 0
            {
                word.store(method.entry() as i64, Relaxed);
            }
        }
    }
}
