//! The end of an instance for good: what the layout and others have of it.

use super::Maker;
use crate::blocks::{Block, NO_INSTANCE};
use crate::machine::{Machine, Published};
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};

/// Entries that one step looks at.
const ENTRIES_OF_STEP: usize = 64;

impl Maker {
    /// Whether an instance is dead for good: `Busy`: something of it is left.
    pub fn can_retire<M: Machine>(
        &self,
        machine: &M,
        number: InstanceId,
    ) -> Result<&'static Instance, Error> {
        let record = self.instances.get(number)?;
        // Return portals that lead away from a component that runs to completion are kept with each client.
        if number == self.own || record.run_to_completion != 0 || record.essential != 0 {
            return Err(Error::NotAllowed);
        }
        // What is laid out for its other place would be nobody's.
        if record.other_place != NO_INSTANCE {
            return Err(Error::NotSupported);
        }
        // No thread enters the dead.
        if machine.check_alive(record.domain).is_ok()
            || self.is_left(number)
            || !self.pools.is_empty_of(machine, number)
        {
            return Err(Error::Busy);
        }
        Ok(record)
    }

    /// One step of forgetting an instance that is dead for good, so that its number and its domain can be another's: ends
    /// what others have of it, at most `most` blocks, or looks at some of the entries that the layout made, from `from` on,
    /// and clears those that lead from or to it. The value is where the next step begins; 0: there is none. `Busy`:
    /// something of it is left; nothing is changed then.
    pub fn retire_domain<M: Machine>(
        &mut self,
        machine: &M,
        number: InstanceId,
        from: u64,
        most: usize,
    ) -> Result<u64, Error> {
        let record = self.can_retire(machine, number)?;
        // The first entry is that of the value 1.
        let layout = machine.layout();
        let end = layout.tables().entries() + layout.portals.len();
        if from == 0 {
            self.end_pager(machine, number);
        }
        let first = end.min(from.saturating_sub(1) as usize);
        for _ in 0..most {
            if let Some(place) = self.blocks.import_of(number) {
                self.close(machine, place);
                continue;
            }
            let Some(place) = self.blocks.made_by(number, None, Block::is_live) else {
                if first == end {
                    self.forget(machine, record);
                    return Ok(0);
                }
                let next = end.min(first + ENTRIES_OF_STEP);
                // A look at all instances.
                let is_alone = self.instances.is_alone(record);
                for entry in first..next {
                    // None: it is another's.
                    let _ = self.clear_laid_out(machine, (record, is_alone), entry);
                }
                // The last step, in which nothing leads there any more, finds out whether a thread has come meanwhile.
                return Ok(next as u64 + 1);
            };
            self.end(machine, place);
        }
        Ok(first as u64 + 1)
    }

    /// Clears an entry if the layout made it and it leads from or to an instance: of its own table the one with this number, if
    /// it does not share that, or if this is its connection; behind those the connections of all. A holder keeps its
    /// indexes, which lead nowhere.
    fn clear_laid_out<M: Machine>(
        &self,
        machine: &M,
        (gone, is_alone): (&Instance, bool),
        entry: usize,
    ) -> Option<()> {
        let layout = machine.layout();
        let (domain, index) = match entry.checked_sub(layout.tables().entries()) {
            None if is_alone => (gone.domain, entry),
            None => {
                let own = layout.connection(gone.number, entry)?;
                own.is_code(machine.entry(gone.domain, entry)).then_some((gone.domain, entry))?
            }
            Some(number) => {
                let portal = layout.portals.get(number)?;
                let (index, domain) =
                    (portal.index as usize, self.table_of(layout, portal.client)?);
                let leads = layout.exports.get(portal.export as usize)?.instance == gone.number;
                // The client can be another than the layout's: then it has code of its own there.
                let is_laid_out = index < layout.tables().entries()
                    && portal.is_code(machine.entry(domain, index));
                (leads && is_laid_out).then_some((domain, index))?
            }
        };
        machine.set_entry(domain, index, layout.header.no_portal, Published::by_layout());
        Some(())
    }

    /// The instances whose imports, or faults, lead to one.
    pub fn users_of<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
    ) -> impl Iterator<Item = InstanceId> {
        let layout = machine.layout();
        let described = layout.portals.iter().filter(move |portal| {
            let export = layout.exports.get(portal.export as usize);
            let leads = |client: &Instance| {
                portal.is_code(self.original(machine, client.number, portal.index as usize))
            };
            export.is_some_and(|export| export.instance == server)
                && self.instances.get(portal.client).is_ok_and(leads)
        });
        let mut place = None;
        let imports = core::iter::from_fn(move || {
            place = self.blocks.made_by(server, place, |block| block.is_import && block.is_live());
            place.map(|place| self.blocks.get(place).client)
        });
        let provided = machine.provided_by(server).map(|range| range.client);
        let users = described.map(|portal| portal.client).chain(imports).chain(provided);
        users.filter(move |user| *user != server)
    }

    pub(super) fn forget<M: Machine>(&mut self, machine: &M, record: &Instance) {
        self.forget_domain(machine, record);
        // An export of another can come under the number of one that it had.
        self.templates.forget_exports();
        let domain = self.instances.is_alone(record).then_some(record.domain);
        self.pools.retire(machine, record.number, domain);
        if self.instances.is_alone(record) {
            self.blocks.remove_table(record.domain);
        }
        self.instances.remove(record.number);
        self.set_succeeded(record.number, false);
    }
}
