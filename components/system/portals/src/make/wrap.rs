//! Portals that lead to an interposer first, and those by which it calls on behalf of their client.
//!
//! How their code is made is in `between`. A client's entry changes by one store,
//! so each call goes one way or the other, and none nowhere. The interposer pays: all code is in its part, and the client, who did
//! not ask for it, has as much of everything as before.

use super::Maker;
use super::between::Between;
use crate::blocks::{Block, Code, Kind};
use crate::crossing::{Entry, write};
use crate::machine::{Machine, Published};
use crate::refusals::Missing;
use crate::wraps::{Rule, Wrap, Wraps, inner_word};
use cairn_abi::descriptor::{METHODS_MAXIMUM, NAME_SIZE, name};
use cairn_abi::record::{Instance, Portal};
use cairn_abi::{Error, InstanceId};
use cairn_portal::generate::place;
use cairn_portal::literal::*;

/// Portals of a client, which may lead to interposers already.
pub struct Portals<'a> {
    /// Whose they are.
    pub client: InstanceId,
    /// The first of them.
    pub first: usize,
    /// Whom they lead to without interposers.
    pub server: InstanceId,
    /// What they lead to.
    pub kind: Kind,
    /// Address of the words of a limited grant by which the client has them; zero: it has them without.
    pub limits: u64,
    /// Letters and operation of each.
    pub method: &'a dyn Fn(usize) -> Entry,
}

/// A literal of code.
pub(super) fn literal<M: Machine>(machine: &M, code: u64, literal: i64) -> u64 {
    machine.load(code.wrapping_add_signed(literal)).unwrap_or(0)
}

/// The name of the interface of what portals lead to; of what was registered at run time nobody knows it.
fn interface_of<M: Machine>(machine: &M, kind: Kind) -> [u8; NAME_SIZE] {
    match kind {
        Kind::Export(export) | Kind::Object(export, _) => {
            machine.layout().export(export as usize).map_or([0; NAME_SIZE], |one| one.interface)
        }
        Kind::Semaphore(_) => name("Semaphore"),
        Kind::Lock(_) => name("Lock"),
        Kind::Registration(_) => [0; NAME_SIZE],
    }
}

impl Wrap {
    /// Address of the wrapping portal of a method.
    pub(super) fn code<M: Machine>(&self, machine: &M, method: usize) -> u64 {
        let first = machine.layout().granule(self.wrapping.start) + LITERALS_SIZE as u64;
        first + method as u64 * u64::from(self.stride)
    }
}

impl Maker {
    /// Whether an instance's portals can lead to interposers: what it takes to get along without one does not depend on one.
    pub fn can_be_wrapped(&self, client: &Instance) -> bool {
        client.number != self.own && client.run_to_completion == 0 && client.essential == 0
    }

    /// All rules and wraps.
    pub fn wraps(&self) -> &Wraps {
        &self.wraps
    }

    /// Whether the block or import of a client that begins at an index is wrapped by a rule.
    pub fn is_wrapped_by(&self, rule: &Rule, client: InstanceId, first: usize) -> bool {
        let mut wraps = self.wraps.wraps.all().iter().filter(|wrap| wrap.begins(client, first));
        wraps.any(|wrap| wrap.rule.is_like(rule))
    }

    /// An open block of a client that a rule applies to, and that is not wrapped by it.
    pub fn unwrapped_block<M: Machine>(
        &self,
        machine: &M,
        rule: &Rule,
        client: InstanceId,
    ) -> Option<Block> {
        let is_meant = |block: &Block| {
            let is_measured = block.kind == Kind::Export(u32::MAX);
            self.applies(machine, rule, (client, block.server), block.kind)
                && !is_measured
                && !self.is_wrapped_by(rule, client, block.first())
        };
        self.blocks.find_of(client, is_meant).copied()
    }

    /// Whether an import leads where the layout says, interposers apart, or will when it is no longer exchanged.
    pub fn is_laid_out<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        import: &Portal,
    ) -> bool {
        let first = import.index as usize;
        self.exchanges.has_import(client, first)
            || import.is_code(self.original(machine, client, first))
    }

    /// Puts interposers before a block that was made and is in no table yet; `calls` as in [`Maker::wrap_new`]. If that fails the
    /// block goes as well, but for a place that its client reserved. The rest of opening is to be as quick as if there were no rules.
    #[cold]
    #[inline(never)]
    pub(super) fn wrap_made<M: Machine>(
        &mut self,
        machine: &M,
        (place, is_reserved, limits): (usize, bool, u64),
        method: &dyn Fn(usize) -> Entry,
        calls: &mut [u64],
    ) -> Result<(), Error> {
        let made = self.wrap_new(machine, (place, limits), method, calls);
        made.inspect_err(|_| match is_reserved {
            true => self.end(machine, place),
            false => self.close(machine, place),
        })
    }

    /// Puts the interposers of all rules before a block of portals that is about to be a client's; `calls` is their code, and in the end
    /// what is to be in the client's table. If that fails nothing of it is left.
    fn wrap_new<M: Machine>(
        &mut self,
        machine: &M,
        (place, limits): (usize, u64),
        method: &dyn Fn(usize) -> Entry,
        calls: &mut [u64],
    ) -> Result<(), Error> {
        let block = self.blocks.get(place);
        let Block { client, server, kind, .. } = *block;
        let portals = Portals { client, first: block.first(), server, kind, limits, method };
        if !self.can_be_wrapped(self.instances.get(portals.client)?) {
            return Ok(());
        }
        let mut number = 0;
        while let Some(rule) = self.wraps.rules.all().get(number).copied() {
            number += 1;
            if self.applies(machine, &rule, (portals.client, portals.server), portals.kind)
                && let Err(error) = self.put_between(machine, &rule, &portals, calls)
            {
                self.forget_wraps(machine, portals.client, portals.first);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Lets portals that a client has lead to an interposer first.
    pub fn wrap<M: Machine>(
        &mut self,
        machine: &M,
        rule: &Rule,
        portals: &Portals<'_>,
        count: usize,
    ) -> Result<(), Error> {
        let domain = self.instances.get(portals.client)?.domain;
        if self.is_moving(portals.client) {
            return Err(Error::Busy);
        }
        let mut calls = [0; METHODS_MAXIMUM];
        let calls = calls.get_mut(..count).ok_or(Error::TooLarge)?;
        let place = (portals.client, portals.first);
        let is_exchanged = self.exchanges.has_import(place.0, place.1);
        for (method, call) in calls.iter_mut().enumerate() {
            let index = portals.first + method;
            let laid_out = || {
                let connection = machine.layout().connection(portals.client, index)?;
                Some(self.laid_out(machine, connection))
            };
            let exchanged = if is_exchanged { laid_out() } else { None };
            let wrapped = self.wrapped(machine, place, method).or(exchanged);
            *call = wrapped.unwrap_or_else(|| machine.entry(domain, index));
        }
        self.put_between(machine, rule, portals, calls)?;
        for (method, call) in calls.iter().enumerate() {
            self.lead(machine, place, method, *call);
        }
        Ok(())
    }

    /// Makes the two kinds of portals of a wrap of what leads to `calls` so far. The client's table is the caller's to change.
    fn put_between<M: Machine>(
        &mut self,
        machine: &M,
        rule: &Rule,
        portals: &Portals<'_>,
        calls: &mut [u64],
    ) -> Result<(), Error> {
        let interposer = self.instances.get(rule.interposer)?;
        if self.is_moving(portals.server) {
            return Err(Error::Busy);
        }
        if self.wraps.wraps.is_full() {
            return Err(self.refuse(rule.interposer, Missing::Portals, Error::Exhausted));
        }
        let count = calls.len();
        let inner = self.blocks.room(interposer.domain, count);
        let inner = inner.map_err(|error| self.refuse(rule.interposer, Missing::Entries, error))?;
        let client = self.instances.get(portals.client)?;
        let Portals { first, server, kind, limits, method, .. } = *portals;
        let mut originals = [0; METHODS_MAXIMUM];
        originals[..count].copy_from_slice(calls);
        let between = Between {
            caller: client,
            callee: interposer,
            client: client.number,
            came: None,
            payer: self.origin(rule.interposer),
            first,
            kind: None,
            limits: 0,
        };
        let entry = |index: usize| {
            (Entry::plain(method(index).letters, rule.entry), inner_word(inner, first, index))
        };
        let (wrapping, stride) = self.generate_between(machine, &between, &entry, calls)?;
        self.hold_made(machine, portals.client, calls);
        for (call, original) in calls.iter_mut().zip(originals) {
            self.set_original(machine, *call, original);
            // What the client has no right to it does not get so.
            if original == machine.layout().header.no_portal {
                *call = original;
            }
        }
        let mut wrap = Wrap {
            rule: *rule,
            client: client.number,
            server,
            kind,
            first: first as u16,
            count: count as u8,
            inner: inner as u16,
            limits,
            wrapping,
            stride,
            behalf: Code::NONE,
            came: wrapping.queue,
            leaves: false,
        };
        let inside = self.wraps.newest(usize::MAX, |one| one.begins(client.number, first));
        let made = self.lead_on(machine, &wrap, inside, &originals[..count], method);
        wrap.behalf = made.inspect_err(|_| self.pools.give_back(wrapping))?;
        self.blocks.take_entries(interposer.domain, inner, count);
        self.wraps.wraps.push(wrap)
    }

    /// Makes the portals on behalf of the client by which an interposer calls what is behind it: the interposer of the wrap
    /// `inside`, or who serves. The value is their code.
    pub(super) fn lead_on<M: Machine>(
        &mut self,
        machine: &M,
        wrap: &Wrap,
        inside: Option<usize>,
        originals: &[u64],
        method: &dyn Fn(usize) -> Entry,
    ) -> Result<Code, Error> {
        let caller = self.instances.get(wrap.rule.interposer)?;
        let inside = inside.and_then(|place| self.wraps.wraps.all().get(place)).copied();
        let callee = inside.map_or(wrap.server, |inside| inside.rule.interposer);
        let between = Between {
            caller,
            callee: self.instances.get(callee)?,
            client: wrap.client,
            came: Some(wrap.came),
            payer: self.origin(wrap.rule.interposer),
            first: wrap.first.into(),
            kind: if inside.is_none() { Some(wrap.kind) } else { None },
            limits: wrap.limits,
        };
        let entry = |index: usize| {
            let of = method(index);
            let original = |at: i64| literal(machine, originals[index], at);
            match inside {
                Some(inside) => (Entry::plain(of.letters, inside.rule.entry), inside.word(index)),
                None => {
                    (Entry { entry: original(LITERAL_ENTRY), ..of }, original(LITERAL_CONSTANT))
                }
            }
        };
        let mut calls = [0; METHODS_MAXIMUM];
        let calls = calls.get_mut(..originals.len()).ok_or(Error::TooLarge)?;
        let (behalf, _) = self.generate_between(machine, &between, &entry, calls)?;
        self.hold_made(machine, wrap.client, calls);
        let no_portal = machine.layout().header.no_portal;
        for ((index, call), original) in (usize::from(wrap.inner)..).zip(calls).zip(originals) {
            let code = if *original == no_portal { no_portal } else { *call };
            machine.set_entry(caller.domain, index, code, Published::by_layout());
        }
        Ok(behalf)
    }

    /// Notes in a wrapping portal in whose place it stands.
    pub(super) fn set_original<M: Machine>(&self, machine: &M, code: u64, original: u64) {
        let words = machine.code(code - LITERALS_SIZE as u64, LITERALS_SIZE as usize);
        write(words.get(place(LITERAL_ORIGINAL)..).unwrap_or(&[]), &[original]);
    }

    /// Lets an index of a client lead to code: that of the method of the block or import that begins at `first`.
    pub(super) fn lead<M: Machine>(
        &self,
        machine: &M,
        (client, first): (InstanceId, usize),
        method: usize,
        code: u64,
    ) {
        let Ok(record) = self.instances.get(client) else { return };
        let set = |first: usize| {
            machine.set_entry(record.domain, first + method, code, Published::by_layout());
        };
        // An import that is exchanged leads where the block for that does.
        if !self.exchanges.has_import(client, first) {
            set(first);
        }
        if let Some(import) = self.exchanges.import_of(record.domain, first) {
            set(import);
        }
    }

    /// What a client's index leads to, interposers apart.
    pub fn original<M: Machine>(&self, machine: &M, client: InstanceId, index: usize) -> u64 {
        let Ok(record) = self.instances.get(client) else { return 0 };
        let mut code = machine.entry(record.domain, index);
        let own = self.wraps.wraps.all().iter().rev().filter(|wrap| wrap.is_at(client, index));
        for wrap in own {
            if wrap.code(machine, index - usize::from(wrap.first)) == code {
                code = literal(machine, code, LITERAL_ORIGINAL);
            }
        }
        code
    }

    /// Whether a rule applies to calls of this client to what this server has. Between instances of one domain nobody stands.
    pub fn applies<M: Machine>(
        &self,
        machine: &M,
        rule: &Rule,
        (client, server): (InstanceId, InstanceId),
        kind: Kind,
    ) -> bool {
        let domain = |one: InstanceId| self.instances.get(one).map(|record| record.domain).ok();
        let between = domain(rule.interposer);
        let is_about = rule.interface[0] == 0 || rule.interface == interface_of(machine, kind);
        is_about
            && rule.applies_to(client, server)
            && domain(client) != between
            && domain(server) != between
    }

    /// The newest wrap of what a client has at an index.
    pub fn wrap_at(&self, client: InstanceId, index: usize) -> Option<&Wrap> {
        self.wraps.wraps.all().iter().rev().find(|wrap| wrap.is_at(client, index))
    }

    /// The wrap for which an interposer has an index.
    pub fn wrap_behind(&self, interposer: InstanceId, index: usize) -> Option<&Wrap> {
        let inner = |wrap: &&Wrap| {
            let first = usize::from(wrap.inner);
            wrap.rule.interposer == interposer
                && !wrap.leaves
                && (first..first + usize::from(wrap.count)).contains(&index)
        };
        self.wraps.wraps.all().iter().find(inner)
    }

    /// What an import's method leads to if it is not exchanged: the layout's code, or an interposer's.
    pub(super) fn wrapped<M: Machine>(
        &self,
        machine: &M,
        (client, import): (InstanceId, usize),
        method: usize,
    ) -> Option<u64> {
        let newest = self.wraps.newest(usize::MAX, |wrap| wrap.begins(client, import))?;
        Some(self.wraps.wraps.all().get(newest)?.code(machine, method))
    }
}
