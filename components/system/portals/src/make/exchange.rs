//! Imports that lead elsewhere than the description says, while the system runs.
//!
//! Their client has a block of portals to the other server, as if it had opened it, and the entries of the import lead to the
//! same code. When the block goes, whoever ends it, the entries are as the layout made them.

use super::Maker;
use crate::blocks::Block;
use crate::crossing::{Entry, Target};
use crate::machine::{Machine, Published};
use cairn_abi::{DomainId, Error, InstanceId};

/// Most of them at a time.
const EXCHANGES_MAXIMUM: usize = 16;

/// One of them.
#[derive(Clone, Copy)]
struct Exchange {
    client: InstanceId,
    domain: DomainId,
    /// First index of the import.
    import: usize,
    /// First index of the block.
    block: usize,
}

/// All of them.
pub struct Exchanges {
    all: [Option<Exchange>; EXCHANGES_MAXIMUM],
    /// How many there are: most systems have none.
    count: usize,
}

impl Exchanges {
    /// None.
    pub const NONE: Exchanges = Exchanges { all: [None; EXCHANGES_MAXIMUM], count: 0 };

    /// Whether the import of a client that begins at an index is exchanged.
    pub fn has_import(&self, client: InstanceId, import: usize) -> bool {
        let mut all = self.all.iter().flatten().filter(|_| self.count > 0);
        all.any(|one| one.client == client && one.import == import)
    }

    /// The import that leads where the block does that begins at an index of a domain.
    pub fn import_of(&self, domain: DomainId, block: usize) -> Option<usize> {
        let mut all = self.all.iter().flatten().filter(|_| self.count > 0);
        Some(all.find(|one| one.domain == domain && one.block == block)?.import)
    }

    /// Forgets the one that is chosen.
    fn take(&mut self, chosen: impl Fn(&Exchange) -> bool) -> Option<Exchange> {
        if self.count == 0 {
            return None;
        }
        let mut places = self.all.iter_mut();
        let found = places.find(|place| place.as_ref().is_some_and(&chosen))?.take();
        self.count -= 1;
        found
    }
}

impl Maker {
    /// Lets a client's import at `import`, of `count` methods, lead to what `target` says; none: to what the layout says.
    pub fn exchange<M: Machine>(
        &mut self,
        machine: &M,
        (client, import): (InstanceId, usize),
        target: Option<&Target>,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let domain = self.instances.get(client)?.domain;
        let is_this = |one: &Exchange| one.client == client && one.import == import;
        let former = self.exchanges.all.iter().flatten().copied().find(is_this);
        let Some(target) = target else { return self.give_up(machine, former) };
        if former.is_none() && self.exchanges.count == EXCHANGES_MAXIMUM {
            return Err(Error::Exhausted);
        }
        let block = self.open(machine, client, target, count, method)? as usize;
        // A call leads to one or the other, and none nowhere.
        for index in 0..count {
            let code = machine.entry(domain, block + index);
            machine.set_entry(domain, import + index, code, Published::by_layout());
        }
        self.exchanges.take(is_this);
        if let Some(place) = self.exchanges.all.iter_mut().find(|place| place.is_none()) {
            *place = Some(Exchange { client, domain, import, block });
            self.exchanges.count += 1;
        }
        self.give_up(machine, former)
    }

    /// Closes the block of an exchange that is over, if there was one.
    fn give_up<M: Machine>(&mut self, machine: &M, former: Option<Exchange>) -> Result<(), Error> {
        if let Some(Exchange { client, block, .. }) = former {
            self.close(machine, self.blocks.at(client, block as u64)?);
        }
        Ok(())
    }

    /// A block ends: an import that led to its code leads where the layout says, unless its server has retired.
    pub(super) fn put_back<M: Machine>(&mut self, machine: &M, block: &Block) {
        let first = block.first();
        let is_of = |one: &Exchange| one.domain == block.domain && one.block == first;
        let Some(Exchange { client, domain, import, .. }) = self.exchanges.take(is_of) else {
            return;
        };
        let layout = machine.layout();
        for index in import..import + block.indexes().len() {
            let connection = layout.connection(client, index);
            let code = connection.and_then(|connection| {
                let server = layout.exports.get(connection.export as usize)?.instance;
                let is_there = self.instances.is_described(layout, server);
                is_there.then(|| self.laid_out(machine, connection))
            });
            let code = self.wrapped(machine, (client, import), index - import).or(code);
            let code = code.unwrap_or(layout.header.no_portal);
            machine.set_entry(domain, index, code, Published::by_layout());
        }
    }

    /// The index whose code an index of a client's import leads to.
    pub fn exchanged(&self, client: InstanceId, index: usize) -> Option<usize> {
        // Most systems have none.
        if self.exchanges.count == 0 {
            return None;
        }
        let mut blocks = self.exchanges.all.iter().flatten().filter(|one| one.client == client);
        blocks.find_map(|one| {
            let place = self.blocks.at(client, one.block as u64).ok()?;
            let count = self.blocks.get(place).indexes().len();
            let method = index.checked_sub(one.import).filter(|method| *method < count)?;
            Some(one.block + method)
        })
    }
}
