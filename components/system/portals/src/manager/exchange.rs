//! Which other export an import may lead to.

use super::Manager;
use crate::blocks::Kind;
use crate::crossing::{Entry, Target};
use crate::known::refuse_itself;
use crate::machine::Machine;
use cairn_abi::{Error, InstanceId};

impl Manager {
    /// Connects the imports of a client that the description connects to the export `from` to another of the same interface,
    /// or back.
    pub fn exchange<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        (from, to): (usize, usize),
    ) -> Result<(), Error> {
        let record = self.maker.living(machine, client)?;
        let (former, export) = (machine.layout().export(from)?, self.described(machine, to)?);
        let server = self.maker.instances().get(former.instance)?;
        let other = self.maker.instances().get(export.instance)?;
        // The manager needs its own; calls inside a domain have no portals; who runs to completion is called by others.
        let runs_to_completion =
            [record, server, other].iter().any(|one| one.run_to_completion != 0);
        if client == self.maker.own() || runs_to_completion || server.domain == record.domain {
            return Err(Error::NotSupported);
        }
        refuse_itself(client, export.instance)?;
        let methods = machine.layout().methods_of(export);
        let letters = |export| machine.layout().methods_of(export).iter().map(|one| &one.letters);
        if former.version != export.version || letters(former).ne(letters(export)) {
            return Err(Error::VersionMismatch);
        }
        let target = Target::of(Kind::Export(to as u32), export.instance);
        let target = (from != to).then_some(&target);
        let connections = machine.layout().portals.iter();
        let imports = connections
            .filter(|one| one.client == client && one.export as usize == from && one.method == 0);
        let mut found = Err(Error::NotFound);
        for import in imports {
            let place = (client, import.index as usize);
            self.maker.exchange(machine, place, target, methods.len(), |index| {
                Entry::of(&methods[index])
            })?;
            found = Ok(());
        }
        found
    }
}
