//! Instances begin, end, come and go for good.

use super::{BLOCKS_PER_STEP, Manager};
use crate::machine::Machine;
#[cfg(test)]
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};

impl Manager {
    /// One step of the end of an instance: what it had opened, and whatever others have of it that a
    /// successor must not be handed.
    pub fn instance_died<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
    ) -> Result<u64, Error> {
        self.maker.instances().get(instance)?;
        if instance == self.maker.own() {
            return Err(Error::NotAllowed);
        }
        if self.release_held_by(machine, instance) || self.fall_back(machine, instance) {
            return Ok(1);
        }
        if self.maker.end_instance(machine, instance, BLOCKS_PER_STEP) {
            return Ok(1);
        }
        self.registrations.forget_of(instance, |_| true);
        machine.remove_names(instance);
        Ok(0)
    }

    /// Checks that nothing of its predecessor is left in an instance's table, and that others can call nothing of
    /// it, but what that left to it ([`Manager::leave_domain`]). Stack queues need nothing: every activation comes home by the return portal's normal, abort or dead
    /// entry.
    pub fn instance_starts(&self, instance: InstanceId) -> Result<(), Error> {
        self.maker.instances().get(instance)?;
        if self.maker.is_left(instance) { Err(Error::Busy) } else { Ok(()) }
    }

    /// Adds an instance with the portal table that it has; a client of this manager has a part of what portals are made from.
    #[cfg(test)]
    pub fn add_domain<M: Machine>(
        &mut self,
        machine: &M,
        record: &'static Instance,
        is_client: bool,
    ) -> Result<(), Error> {
        self.maker.add_domain(machine, record, is_client)
    }

    /// One step of forgetting an instance that is dead for good, after its end ([`Manager::instance_died`]): its number
    /// and its domain can be another's then. The first begins at 0, each other where the value of the one before says; the
    /// last answers 0. `Busy`: something of it is left.
    pub fn retire_domain<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
        from: u64,
    ) -> Result<u64, Error> {
        if self.release_left(machine, instance)? {
            return Ok(from.max(1));
        }
        if self.registrations.find_of(instance, |_| true).is_some() {
            return Err(Error::Busy);
        }
        self.maker.can_retire(machine, instance)?;
        if self.maker.release_gone(machine, instance) || self.forget_wraps(machine, instance)? {
            return Ok(from.max(1));
        }
        let next = self.maker.retire_domain(machine, instance, from, BLOCKS_PER_STEP)?;
        self.has_retired = true;
        if next == 0 {
            self.parameter_data.forget(instance);
            machine.retire_instance(instance);
        }
        Ok(next)
    }
}
