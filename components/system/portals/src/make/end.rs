//! How blocks of portals end: their entries first, so that no thread calls while what they held is given back.

use super::Maker;
use crate::blocks::Block;
use crate::machine::{Machine, Published};
use cairn_abi::InstanceId;

impl Maker {
    /// Gives a block up for its holder.
    pub fn close<M: Machine>(&mut self, machine: &M, place: usize) {
        self.end_copies(machine, place);
        self.clear(machine, place);
        self.end_grants(machine, place);
        let code = self.blocks.close(place);
        self.pools.give_back(code);
    }

    /// Ends a block for others' reasons.
    pub(super) fn end<M: Machine>(&mut self, machine: &M, place: usize) {
        self.end_copies(machine, place);
        self.end_one(machine, place);
    }

    /// The same of a block of which there are no copies.
    pub(super) fn end_one<M: Machine>(&mut self, machine: &M, place: usize) {
        self.end_alone(machine, place);
        self.end_grants(machine, place);
    }

    /// The same without what came of it.
    pub(super) fn end_alone<M: Machine>(&mut self, machine: &M, place: usize) {
        self.clear(machine, place);
        let code = self.blocks.end(place);
        self.pools.give_back(code);
    }

    /// Lets the indexes of a block lead nowhere; its code for calls into the other place of its server, if it has that, goes back.
    fn clear<M: Machine>(&mut self, machine: &M, place: usize) {
        let block = *self.blocks.get(place);
        self.put_back(machine, &block);
        self.forget_wraps_of(machine, &block);
        for index in block.indexes() {
            let no_portal = machine.layout().header.no_portal;
            machine.set_entry(block.domain, index, no_portal, Published::by_layout());
        }
        if block.forms().elsewhere.granules > 0 {
            let code = self.blocks.take_elsewhere(place);
            self.pools.give_back(code);
        }
    }

    /// Ends every live block of a maker that `which` accepts: its holder keeps the indexes, which lead nowhere.
    /// The value is how many.
    pub fn end_all<M: Machine>(
        &mut self,
        machine: &M,
        maker: InstanceId,
        which: impl Fn(&Block) -> bool,
    ) -> u64 {
        let which = |block: &Block| block.is_live() && which(block);
        let (mut count, mut last) = (0, None);
        while let Some(place) = self.blocks.made_by(maker, last, which) {
            // It stays in the list until its holder closes it.
            self.end(machine, place);
            last = Some(place);
            count += 1;
        }
        count
    }

    /// One step of an instance's end, with at most `most` blocks: closes what it had, and ends what others have of
    /// it. The value is whether there is more.
    pub fn end_instance<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
        most: usize,
    ) -> bool {
        self.leaves_nothing(instance);
        for _ in 0..most {
            match self.blocks.ending_with(instance, false) {
                Some(place) if self.blocks.get(place).client != instance => {
                    self.end(machine, place)
                }
                Some(place) if self.revoke_from(machine, place, 1) == 0 => {
                    self.close(machine, place)
                }
                Some(_) => {}
                None if self.withdraw_from(machine, instance) => {}
                None => return false,
            }
        }
        self.is_left(instance)
    }

    /// Whether something of an instance is left that its successor must not be handed.
    pub fn is_left(&self, instance: InstanceId) -> bool {
        let stays = self.is_succeeded(instance);
        self.blocks.ending_with(instance, stays).is_some()
            || self.grants.offered_to(instance).is_some()
    }
}
