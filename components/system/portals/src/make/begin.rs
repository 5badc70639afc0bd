//! What the manager takes over from the layout, and what comes later by the same door.

use super::Maker;
use crate::machine::Machine;
use crate::shares::clients;
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};

impl Maker {
    /// Takes over from the layout, as instance `own`. `next_counter` is the first call counter that no portal
    /// has.
    // What it needs for a moment is not on the stack below which the first portals are made.
    #[inline(never)]
    pub fn begin<M: Machine>(
        &mut self,
        machine: &M,
        own: InstanceId,
        scheduler: InstanceId,
        next_counter: u64,
    ) -> Result<(), Error> {
        let layout = machine.layout();
        let connections = layout.portals.iter().filter_map(|portal| {
            let export = layout.exports.get(portal.export as usize)?;
            Some((portal.client, export.instance))
        });
        let clients = clients(connections, own);
        let is_client = |instance: InstanceId| {
            let is_place = layout.instance(instance).is_ok_and(Instance::is_other_place);
            clients.get(instance.index()) == Some(&true) && !is_place
        };
        self.pools.begin(machine, is_client);
        (self.own, self.scheduler, self.next_counter) = (own, scheduler, next_counter);
        layout.described().try_for_each(|instance| {
            self.add_domain(machine, instance, is_client(instance.number))
        })?;
        layout.other_places().for_each(|place| self.add_table(machine, place));
        Ok(())
    }

    /// Knows what is free of the portal table of a place.
    fn add_table<M: Machine>(&mut self, machine: &M, place: &Instance) {
        let (no_portal, size) =
            (machine.layout().header.no_portal, machine.layout().tables().entries());
        let is_taken = |index: &usize| machine.entry(place.domain, *index) != no_portal;
        self.blocks.add_table(place.domain, size, (0..size).filter(is_taken));
    }

    /// Adds an instance, and with the first of a domain the portals that are in its table. A client has a part of what
    /// portals are made from.
    pub fn add_domain<M: Machine>(
        &mut self,
        machine: &M,
        record: &'static Instance,
        is_client: bool,
    ) -> Result<(), Error> {
        self.instances.add(record)?;
        if is_client && let Err(error) = self.pools.add_client(record) {
            self.instances.remove(record.number);
            return Err(error);
        }
        self.refusals.forget(record.number);
        if self.instances.is_alone(record) {
            self.add_table(machine, record);
        }
        Ok(())
    }
}
