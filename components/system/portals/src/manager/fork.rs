//! Copies of instances that run: what the parent has, at the same indexes, with the parent between.

use super::Manager;
use super::wrap::method_of;
use crate::blocks::{Kind, NO_INSTANCE};
use crate::crossing::Target;
use crate::machine::Machine;
use crate::wraps::Rule;
use cairn_abi::address::REGION_SIZE;
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_abi::{Error, InstanceId};

/// Indexes that one step looks at; it copies what is at one of them at most.
const INDEXES_OF_STEP: usize = 64;

/// What a parent has at an index.
struct Held {
    target: Target,
    first: usize,
    count: usize,
    is_import: bool,
}

impl Manager {
    /// One step of giving a copy that has not begun what its parent has: 0 first, then what it answers, until 0. `intercept` is where
    /// the parent is entered by whatever the copy calls. The first step makes the rules, so that nothing comes into the
    /// copy's table that does not lead there.
    pub fn fork<M: Machine>(
        &mut self,
        machine: &M,
        copy: InstanceId,
        intercept: u64,
        from: u64,
    ) -> Result<u64, Error> {
        let record = self.maker.instances().get(copy)?;
        if machine.check_alive(record.domain).is_ok() {
            return Err(Error::Busy);
        }
        let parent = record.parent;
        self.maker.living(machine, parent)?;
        let from = usize::try_from(from).map_err(|_| Error::BadArgument)?;
        if from == 0 {
            self.add_rules(copy, parent, intercept)?;
        }
        let (from, all) = (from.max(PORTAL_FIRST_IMPORT), machine.layout().tables().entries());
        let end = all.min(from.saturating_add(INDEXES_OF_STEP));
        let found = (from..end).filter_map(|index| self.held(machine, parent, index)).next();
        let Some(Held { target, first, count, is_import }) = found else {
            return Ok(if end == all { 0 } else { end as u64 });
        };
        let Manager { maker, registrations, synchronisation, .. } = self;
        let kind = target.kind;
        let method = |number| method_of(machine, (registrations, synchronisation), kind, number);
        let place = (copy, parent, first);
        match maker.copy(machine, place, &target, (count, is_import), &method) {
            // Nobody serves it any more.
            Ok(()) | Err(Error::Dead) => Ok((first + count) as u64),
            Err(error) => Err(error),
        }
    }

    /// Who stands before the parent stands before the copy, and the parent nearest to it.
    fn add_rules(&mut self, copy: InstanceId, parent: InstanceId, entry: u64) -> Result<(), Error> {
        let own = self.maker.instances().get(parent)?.start_address;
        if (entry ^ own) >= REGION_SIZE {
            return Err(Error::BadArgument);
        }
        let mut number = 0;
        while let Some(rule) = self.maker.wraps().rules.all().get(number).copied() {
            number += 1;
            if rule.client == parent && !rule.ends() {
                self.maker.add_rule(Rule { client: copy, is_of_copy: false, ..rule })?;
            }
        }
        let rule = Rule::between(copy, NO_INSTANCE, parent);
        self.maker.add_rule(Rule { entry, is_of_copy: true, ..rule })
    }

    /// The import or block of an instance that begins at an index, if a copy gets it, too.
    fn held<M: Machine>(&self, machine: &M, holder: InstanceId, index: usize) -> Option<Held> {
        if let Some(block) = self.maker.blocks().open_at(holder, index) {
            let is_measured = block.kind == Kind::Export(u32::MAX);
            // Granted to this one alone.
            let is_granted = self.maker.is_granted(holder, index);
            if block.first() != index || is_measured || is_granted {
                return None;
            }
            let target = Target::of(block.kind, block.server).ends_with(block.owner);
            let constant = match block.kind {
                Kind::Object(_, control) => control,
                Kind::Semaphore(number) | Kind::Lock(number) => number.into(),
                Kind::Export(_) | Kind::Registration(_) => 0,
            };
            let target = Target { constant, ..target };
            let count = block.count.into();
            return Some(Held { target, first: index, count, is_import: block.is_import });
        }
        if !self.is_described(machine, holder) {
            return None;
        }
        let layout = machine.layout();
        let import = layout.connection(holder, index).filter(|import| import.method == 0)?;
        let export = layout.exports.get(import.export as usize)?;
        let server = self.maker.instances().get(export.instance).ok()?;
        let own = self.maker.instances().get(holder).ok()?;
        // An exchanged one leads where another block does, which ends.
        let is_laid_out = import.is_code(self.maker.original(machine, holder, index))
            && self.maker.exchanged(holder, index).is_none();
        if server.domain == own.domain || !is_laid_out {
            return None;
        }
        let target = Target::of(Kind::Export(import.export), export.instance);
        let count = usize::try_from(export.method_count).ok()?;
        Some(Held { target, first: index, count, is_import: true })
    }
}
