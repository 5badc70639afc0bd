//! Putting interposers between clients and servers, and taking them away.
//!
//! With a rule in force whatever a client gets is wrapped before it has it. What it has already is wrapped by
//! [`Manager::wrap_client`], client by client, and unwrapped in steps, so that the manager is held for no longer than a client's own
//! portals take.

use super::{BLOCKS_PER_STEP, Manager};
use crate::blocks::{Kind, NO_INSTANCE};
use crate::crossing::Entry;
use crate::machine::Machine;
use crate::make::wrap::Portals;
use crate::registrations::{Registration, Registrations};
use crate::synchronisation::Synchronisation;
use crate::wraps::{Rule, Wrap};
use cairn_abi::descriptor::{LETTERS_SIZE, is_name};
use cairn_abi::record::Interrupt;
use cairn_abi::semaphore::SEMAPHORE_PORTALS;
use cairn_abi::{Error, InstanceId};

/// What an interposer registers: its one entry point, which is no method.
pub const ENTRANCE: &str = "interposer";

/// A method of what portals lead to; of what is not known any more, letters that no portal has.
pub(super) fn method_of<M: Machine>(
    machine: &M,
    (registrations, synchronisation): (&Registrations, &Synchronisation),
    kind: Kind,
    number: usize,
) -> Entry {
    let described = |export: u32| {
        let export = machine.layout().export(export as usize).ok()?;
        machine.layout().methods_of(export).get(number)
    };
    let (semaphores, locks) = synchronisation.exports();
    let entry = match kind {
        Kind::Export(export) | Kind::Object(export, _) => described(export).map(Entry::of),
        Kind::Semaphore(_) => described(semaphores).map(Entry::of_semaphore),
        Kind::Lock(_) => described(locks).map(Entry::of_lock),
        Kind::Registration(of) => registrations.find(of).and_then(|found| {
            let (letters, entry) = *found.methods.get(number)?;
            Some(Entry::plain(letters, entry))
        }),
    };
    entry.unwrap_or(Entry::plain([u8::MAX; LETTERS_SIZE], 0))
}

impl Manager {
    /// From now on an interposer stands between a client and a server ([`NO_INSTANCE`]: all of them), for whatever the client
    /// gets. The value is the rule with what the interposer has registered.
    pub fn add_rule<M: Machine>(&mut self, machine: &M, wanted: Rule) -> Result<Rule, Error> {
        let Rule { client, server, interposer, .. } = wanted;
        self.maker.sweep(machine);
        let is_nobody = client == NO_INSTANCE && server == NO_INSTANCE;
        if is_nobody || interposer == client || interposer == server || client == server {
            return Err(Error::BadArgument);
        }
        if server != NO_INSTANCE {
            self.maker.instances().get(server)?;
        }
        // Where it is entered by then nobody knows.
        if self.maker.is_held(interposer) {
            return Err(Error::Busy);
        }
        let record = self.maker.living(machine, interposer)?;
        if record.in_kernel != 0 || record.run_to_completion != 0 {
            return Err(Error::NotSupported);
        }
        if client != NO_INSTANCE && !self.maker.can_be_wrapped(self.maker.instances().get(client)?)
        {
            return Err(Error::NotAllowed);
        }
        let entry = self.entrance_of(interposer).ok_or(Error::NotFound)?;
        let rule = Rule { entry, ..wanted };
        self.maker.add_rule(rule)?;
        Ok(rule)
    }

    /// Where an interposer is entered, as it has registered.
    pub(super) fn entrance_of(&self, interposer: InstanceId) -> Option<u64> {
        let is_entrance = |one: &Registration| one.published.is_none() && one.is_called(ENTRANCE);
        let (_, entry) = self.registrations.find_of(interposer, is_entrance)?.methods[0];
        Some(entry)
    }

    /// The next instance from a number on before which the description lets an interposer stand from the start; both are the
    /// description's.
    pub fn next_described<M: Machine>(
        &self,
        machine: &M,
        from: u16,
        interposer: InstanceId,
    ) -> Option<InstanceId> {
        let instances = &machine.layout().instances;
        let servers = instances.iter().filter(|one| one.wrapped_by == interposer);
        let numbers = servers.map(|one| one.number).filter(|number| number.0 >= from);
        let is_there = |number: &InstanceId| self.is_described(machine, *number);
        if !is_there(&interposer) { None } else { numbers.filter(is_there).min() }
    }

    /// Wraps what a client has, as far as the rule says; how many portals. `NotFound`: that is in force no more.
    pub fn wrap_client<M: Machine>(
        &mut self,
        machine: &M,
        rule: &Rule,
        client: InstanceId,
    ) -> Result<u64, Error> {
        // It was taken back meanwhile.
        if !self.rules().iter().any(|one| one.is_like(rule) && !one.ends()) {
            return Err(Error::NotFound);
        }
        let Ok(record) = self.maker.instances().get(client) else { return Ok(0) };
        let is_meant = rule.client == NO_INSTANCE || rule.client == client;
        if !is_meant || !self.maker.can_be_wrapped(record) {
            return Ok(0);
        }
        let layout = machine.layout();
        let mut wrapped = 0;
        let described = self.is_described(machine, client);
        let imports = layout.portals_of(client).iter().filter(|one| described && one.method == 0);
        for import in imports {
            let Some(export) = layout.exports.get(import.export as usize) else { continue };
            let Ok(server) = self.maker.instances().get(export.instance) else { continue };
            let first = import.index as usize;
            // Calls inside a domain have no portals, and who was served by one that is gone has none, either.
            if server.domain == record.domain || !self.maker.is_laid_out(machine, client, import) {
                continue;
            }
            let count = usize::try_from(export.method_count).map_err(|_| Error::TooLarge)?;
            let place = (client, first, export.instance);
            wrapped += self.wrap_block(machine, rule, place, Kind::Export(import.export), count)?;
        }
        for interrupt in layout.interrupts.iter().filter(|one| described && one.instance == client)
        {
            wrapped += self.wrap_interrupt(machine, rule, interrupt)?;
        }
        let mut ranges = layout.ranges.iter().zip(0..).filter(|(one, _)| one.client == client);
        wrapped += ranges.try_fold(0, |wrapped, (_, number)| {
            let more = if described { self.maker.wrap_faults(machine, rule, number)? } else { 0 };
            Ok::<_, Error>(wrapped + more)
        })?;
        while let Some(block) = self.maker.unwrapped_block(machine, rule, client) {
            let place = (client, block.first(), block.server);
            wrapped += self.wrap_block(machine, rule, place, block.kind, block.count.into())?;
        }
        Ok(wrapped)
    }

    /// Wraps by what a driver waits for an interrupt, and by what it takes it on.
    fn wrap_interrupt<M: Machine>(
        &mut self,
        machine: &M,
        rule: &Rule,
        interrupt: &Interrupt,
    ) -> Result<u64, Error> {
        let (driver, first) = (interrupt.instance, usize::from(interrupt.portal));
        let waits = (driver, first, self.maker.scheduler());
        let kind = Kind::Semaphore(interrupt.semaphore as u16);
        let count = SEMAPHORE_PORTALS as usize;
        let wrapped = self.wrap_block(machine, rule, waits, kind, count)?;
        let mut exports = machine.layout().exports.iter().zip(0..);
        let taken_on = exports.find(|(export, _)| {
            let server = self.maker.instances().get(export.instance);
            is_name(&export.interface, b"Interrupt")
                && server.is_ok_and(|server| server.run_to_completion != 0)
        });
        let Some((export, number)) = taken_on else { return Ok(wrapped) };
        let place = (driver, first + count, export.instance);
        Ok(wrapped + self.wrap_block(machine, rule, place, Kind::Export(number), 1)?)
    }

    fn wrap_block<M: Machine>(
        &mut self,
        machine: &M,
        rule: &Rule,
        (client, first, server): (InstanceId, usize, InstanceId),
        kind: Kind,
        count: usize,
    ) -> Result<u64, Error> {
        if !self.maker.applies(machine, rule, (client, server), kind)
            || self.maker.is_wrapped_by(rule, client, first)
        {
            return Ok(0);
        }
        let Manager { maker, registrations, synchronisation, .. } = self;
        let method = |number| method_of(machine, (registrations, synchronisation), kind, number);
        let limits = maker.limits_of(client, first);
        let portals = Portals { client, first, server, kind, limits, method: &method };
        maker.wrap(machine, rule, &portals, count)?;
        Ok(count as u64)
    }

    /// One step of taking a rule back: how many portals lead to the server again; 0: there are no more, and the rule is gone. Whoever does
    /// not come to the end leaves a rule that another can take back. `NotFound`: there is none.
    pub fn unwrap_step<M: Machine>(&mut self, machine: &M, wanted: &Rule) -> Result<u64, Error> {
        if self.rules().iter().any(|rule| rule.is_like(wanted) && rule.is_of_copy) {
            return Err(Error::NotAllowed);
        }
        if self.maker.end_rules(|rule| rule.is_like(wanted)) == 0 {
            return Err(Error::NotFound);
        }
        let portals = self.unwrap_some(machine, |wrap| wrap.rule.is_like(wanted))?;
        if portals == 0 {
            self.maker.remove_rules(|rule| rule.is_like(wanted));
        }
        Ok(portals)
    }

    /// Unwraps some of what is chosen, the newest first.
    fn unwrap_some<M: Machine>(
        &mut self,
        machine: &M,
        chosen: impl Fn(&Wrap) -> bool,
    ) -> Result<u64, Error> {
        let Manager { maker, registrations, synchronisation, .. } = self;
        let (mut portals, mut end) = (0, usize::MAX);
        for _ in 0..BLOCKS_PER_STEP {
            let Some(place) = maker.wraps().newest(end, |wrap| !wrap.leaves && chosen(wrap)) else {
                break;
            };
            end = place;
            let Wrap { kind, count, .. } = maker.wraps().wraps.all()[place];
            let method =
                |number| method_of(machine, (registrations, synchronisation), kind, number);
            maker.unwrap(machine, place, &method)?;
            portals += u64::from(count);
        }
        maker.sweep(machine);
        Ok(portals)
    }

    /// One step of what the death of an interposer means to those who call through it and are to get along without it. Whether
    /// there is more.
    pub(super) fn fall_back<M: Machine>(&mut self, machine: &M, interposer: InstanceId) -> bool {
        if self.maker.wraps().wraps.all().is_empty() && self.maker.wraps().rules.all().is_empty() {
            return false;
        }
        let falls = |rule: &Rule| rule.interposer == interposer && rule.falls_back;
        self.maker.end_rules(falls);
        // What cannot be made for another interposer around it leads to the dead, until the rule can be taken back.
        let unwrapped = self.unwrap_some(machine, |wrap| falls(&wrap.rule));
        if unwrapped == Ok(0) {
            self.maker.remove_rules(falls);
        }
        unwrapped.is_ok_and(|portals| portals > 0)
    }

    /// The same for an instance that is gone for good.
    pub(super) fn forget_wraps<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
    ) -> Result<bool, Error> {
        self.maker.remove_rules(|rule| rule.names(instance));
        self.maker.forget_server(machine, instance);
        Ok(self.unwrap_some(machine, |wrap| wrap.is_of(instance))? > 0)
    }

    /// Whether a rule is being taken back.
    pub fn ends(&self, wanted: &Rule) -> bool {
        self.rules().iter().any(|rule| rule.is_like(wanted) && rule.ends())
    }

    /// Who stands between whom.
    pub fn rules(&self) -> &[Rule] {
        self.maker.wraps().rules.all()
    }

    /// What a client's index leads to, interposers apart.
    pub fn original<M: Machine>(&self, machine: &M, client: InstanceId, index: usize) -> u64 {
        self.maker.original(machine, client, index)
    }

    /// The newest wrap of what a client has at an index.
    pub fn wrap_at(&self, client: InstanceId, index: usize) -> Option<&Wrap> {
        self.maker.wrap_at(client, index)
    }

    /// The wrap for which an interposer has an index.
    pub fn wrap_behind(&self, interposer: InstanceId, index: usize) -> Option<&Wrap> {
        self.maker.wrap_behind(interposer, index)
    }
}
