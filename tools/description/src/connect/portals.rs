//! What instances take of their domains' portal tables.

use super::Connector;
use crate::report::{Error, Report};
use cairn_abi::device::device_portals;
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_DESCRIBED, PORTALS_MAXIMUM, PORTALS_OPENED};
use cairn_abi::semaphore::{LOCK_PORTALS, SEMAPHORE_PORTALS};
use std::ops::Range;

impl Connector<'_> {
    /// The indexes of its imports' portals in the table of its domain.
    pub(super) fn portals(&self, at: usize) -> Range<usize> {
        let methods = |at: usize| {
            let imports = self.components[at].into_iter().flat_map(|component| &component.imports);
            imports.map(|import| import.interface.methods.len()).sum::<usize>()
        };
        let before = self.system.fellows(at).take_while(|fellow| *fellow < at).map(methods);
        let first = PORTAL_FIRST_IMPORT + before.sum::<usize>();
        first..first + methods(at)
    }

    /// All of a domain have one table; what is behind its last instance's is looked at.
    pub(super) fn check_portals(&self, at: usize, report: &mut Report) {
        if self.system.fellows(at).any(|fellow| fellow > at) {
            return;
        }
        let instance = &self.system.instances[at];
        let portals = self.described(at);
        if portals > PORTALS_DESCRIBED {
            report.push(Error::new(
                &instance.name.place,
                format!("`{}` has too many portals", instance.name),
                format!("expected at most {PORTALS_DESCRIBED}, found {portals}"),
                "import fewer interfaces, or divide the component",
            ));
        }
        let (entries, limit) = (self.entries(at), PORTALS_MAXIMUM);
        if portals <= PORTALS_DESCRIBED && entries > limit {
            let fellows = self.system.fellows(at).map(|fellow| &self.system.instances[fellow]);
            let most = fellows.max_by_key(|fellow| fellow.kept().portals).unwrap_or(instance);
            report.push(Error::new(
                most.kept_place(),
                format!("the portal table of `{}` does not hold what it may get at run time", most.name),
                format!("expected at most {limit} portals of its domain in all, found {entries}"),
                format!(
                    "lower `semaphores` ({SEMAPHORE_PORTALS} portals each), `locks` ({LOCK_PORTALS} each) or `portals`, or place \
                     what shares its domain in one of its own"
                ),
            ));
        }
    }

    /// Entries that the table of a domain needs: for what the description puts there, for what is kept for its instances at run
    /// time, and for what they open.
    pub(super) fn entries(&self, at: usize) -> usize {
        let fellows = self.system.fellows(at).map(|fellow| &self.system.instances[fellow]);
        let getting = fellows.filter(|fellow| self.system.gets_portals(fellow));
        let kept: usize = getting.map(|fellow| fellow.kept().portals as usize).sum();
        self.described(at) + kept + if kept > 0 { PORTALS_OPENED } else { 0 }
    }

    /// Portals that the description puts into the table of a domain, those that every table has included.
    fn described(&self, at: usize) -> usize {
        // A device's interrupt is a semaphore of the scheduler's, and one portal to acknowledge it.
        let scheduler = self.components[self.system.roles.scheduler];
        let semaphore = scheduler.into_iter().flat_map(|scheduler| &scheduler.exports);
        let semaphore = semaphore.filter(|export| export.interface.name == "Semaphore");
        let of_interrupt =
            1 + semaphore.map(|export| export.interface.methods.len()).sum::<usize>();
        let sources = |index: usize| self.system.board.devices[index].interrupts.len();
        let devices = self.system.fellows(at).flat_map(|at| &self.system.instances[at].devices);
        let interrupts: usize = devices.map(|index| sources(**index)).sum();
        let confined: usize =
            self.system.fellows(at).map(|fellow| self.device_portals(fellow)).sum();
        let last = self.system.fellows(at).last().unwrap_or(at);
        self.portals(last).end + of_interrupt * interrupts + confined
    }

    /// The portals by which an instance writes the registers of its virtio devices, and descriptors of each queue.
    fn device_portals(&self, at: usize) -> usize {
        let devices = self.system.instances[at].devices.iter();
        let kinds = devices.filter_map(|device| self.system.board.devices[**device].kind());
        kinds.map(|kind| device_portals(kind.queues())).sum()
    }
}
