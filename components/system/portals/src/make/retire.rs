//! The end of an instance for good: what the layout and others have of it.

use super::Maker;
use crate::blocks::Block;
use crate::machine::{Machine, Published};
use cairn_abi::domain::PORTALS_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};

impl Maker {
    /// One step of forgetting an instance that is dead for good, so that its number and its domain can be another's: ends
    /// what others have of it and clears what the layout put into tables for it, at most `most` blocks or entries. The value
    /// is whether there is more. `Busy`: something of it is left; nothing is changed then.
    pub fn retire_domain<M: Machine>(
        &mut self,
        machine: &M,
        number: InstanceId,
        most: usize,
    ) -> Result<bool, Error> {
        let record = self.instances.get(number)?;
        // Return portals that lead away from a component that runs to completion are kept with each client.
        if number == self.own || record.run_to_completion != 0 || record.essential != 0 {
            return Err(Error::NotAllowed);
        }
        // No thread enters the dead.
        if machine.check_alive(record.domain).is_ok()
            || self.is_left(number)
            || !self.pools.is_empty_of(machine, number)
        {
            return Err(Error::Busy);
        }
        for count in 0..most {
            let Some(place) = self.blocks.made_by(number, None, Block::is_live) else {
                let more = self.clear_laid_out(machine, record, most - count);
                if !more {
                    self.forget(machine, record);
                }
                return Ok(more);
            };
            self.end(machine, place);
        }
        Ok(true)
    }

    /// Clears at most `most` entries of the layout's that lead from or to an instance. A holder keeps its indexes, which
    /// lead nowhere. Whether there may be more.
    fn clear_laid_out<M: Machine>(&self, machine: &M, gone: &Instance, most: usize) -> bool {
        let layout = machine.layout();
        let no_portal = layout.header.no_portal;
        let own = (0..PORTALS_MAXIMUM).map(|index| (gone.domain, index));
        let own = own.filter(|(domain, index)| machine.entry(*domain, *index) != no_portal);
        let others = layout.portals.iter().filter_map(|portal| {
            let export = layout.exports.get(portal.export as usize)?;
            let domain = self.instances.get(portal.client).ok()?.domain;
            let index = portal.index as usize;
            // The client can be another than the layout's: then it has code of its own there.
            let leads = export.instance == gone.number
                && index < PORTALS_MAXIMUM
                && machine.entry(domain, index) == portal.code;
            leads.then_some((domain, index))
        });
        let clear = |(domain, index)| {
            machine.set_entry(domain, index, no_portal, Published::by_layout());
        };
        own.chain(others).take(most).map(clear).count() == most
    }

    fn forget<M: Machine>(&mut self, machine: &M, record: &Instance) {
        self.pools.retire(machine, record.number);
        self.blocks.remove_table(record.domain);
        self.instances.remove(record.number);
    }
}
