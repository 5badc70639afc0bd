//! Which instances run in the kernel domain where the description does not say it.

use crate::model::{Instance, Placement, System};
use cairn_abi::address::KERNEL_STACK_SIZE;

impl Instance {
    /// Whether it has nothing that is not there in the kernel domain: processes, stacks that are shared, or larger than there.
    fn fits_into_kernel(&self) -> bool {
        let stack = (*self.stack).max(self.stacks.size);
        self.processes.is_none() && self.stack_group.is_none() && stack <= KERNEL_STACK_SIZE
    }
}

impl System {
    /// Places in the kernel domain each chosen instance of which the description does not say where it runs, if nothing that it
    /// has keeps it out, nobody shares its domain, and no package replaces it.
    pub fn place_in_kernel(&mut self, is_chosen: impl Fn(&Instance) -> bool) {
        // What others can have there depends on where the scheduler is.
        let scheduler = self.roles.scheduler;
        let others = (0..self.instances.len()).filter(|index| *index != scheduler);
        for index in [scheduler].into_iter().chain(others) {
            // Who is there cannot be replaced.
            let is_replaced = self.successors().any(|(_, of)| **of == index);
            // Who moves begins in a page table, and goes on in another or in the kernel domain.
            let moves = self.instances[index].moves.is_some() || self.has_guests(index);
            let is_alone = self.fellows(index).nth(1).is_none();
            // There are no faults that a pager mends.
            let is_paged = self.paged(index).next().is_some();
            let has_its_threads = index == scheduler
                || *self.instances[index].threads <= 1
                || self.schedules_in_kernel();
            let instance = &mut self.instances[index];
            if !instance.says_placement
                && !moves
                && is_alone
                && !is_paged
                && !is_replaced
                && has_its_threads
                && instance.fits_into_kernel()
                && is_chosen(instance)
            {
                instance.placement.value = Placement::Kernel;
                // Each thread has a stack of its own there.
                (instance.stacks.count, instance.stacks.declared) = (0, false);
            }
        }
    }

    /// Whether the scheduler is in the kernel domain, so that it begins whatever threads there are there.
    pub fn schedules_in_kernel(&self) -> bool {
        self.instances[self.roles.scheduler].is_in_kernel()
    }
}
