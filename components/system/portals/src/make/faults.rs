//! Page faults that go to an interposer first.
//!
//! The portals of a domain's ranges are a chain: each looks whether the address is in its range, and goes on by the next one. A portal that
//! leads to an interposer is put before all of them, with the same range, so that the one that asks the pager is not reached;
//! it goes when that one alone is taken out of the chain. Both of a wrap's portals are pairs with a way back of their own, and stay until the
//! client's stacks in the interposer are at home: then no frame names them.

use super::Maker;
use super::wrap::literal;
use crate::area::GRANULE;
use crate::blocks::{Code, Kind};
use crate::crossing::{with_letters, write};
use crate::machine::{Machine, Published};
use crate::refusals::Missing;
use crate::returns;
use crate::wraps::{FAULTS_FIRST, Rule, Wrap};
use cairn_abi::arch::trap::PAGE_FAULTS;
use cairn_abi::descriptor::LETTERS_SIZE;
use cairn_abi::domain::upcall_entry;
use cairn_abi::record::{FLOAT_OFF, Instance, PagedRange};
use cairn_abi::{DomainId, Error, InstanceId};
use cairn_portal::generate::{self, place};
use cairn_portal::literal::*;
use cairn_portal::{
    Behalf, FaultBetween, GenerateError, Generated, PagerMemory, Parameters, PassedFault, Trust,
    plan,
};
use zerocopy::{FromBytes, IntoBytes};

/// Bytes of the longest portal of faults (held by a test).
pub(crate) const LONGEST: usize = 1536;

/// Letters of `Pager::page_fault`: the four words are those of the fault.
const LETTERS: [u8; LETTERS_SIZE] = *b"c=tiiii\0\0\0\0\0";

/// Where one is generated.
pub(super) struct Room([u64; LONGEST / 8]);

impl Room {
    pub(super) const EMPTY: Room = Room([0; LONGEST / 8]);
}

impl Maker {
    /// Lets the faults of a range go to an interposer first, if that is what a rule is about; how many portals.
    #[cold]
    #[inline(never)]
    pub fn wrap_faults<M: Machine>(
        &mut self,
        machine: &M,
        rule: &Rule,
        number: usize,
    ) -> Result<u64, Error> {
        let layout = machine.layout();
        let range = layout.ranges.get(number).ok_or(Error::NotFound)?;
        // A pager that is gone has no export.
        let Some(export) = layout.pager(range.pager) else { return Ok(0) };
        let (client, first) = (range.client, FAULTS_FIRST + number);
        let kind = Kind::Export(export as u32);
        if !self.applies(machine, rule, (client, range.pager), kind)
            || self.is_wrapped_by(rule, client, first)
        {
            return Ok(0);
        }
        let interposer = self.instances.get(rule.interposer)?;
        // A fault is no call: nobody would keep what the unit holds.
        if interposer.float != FLOAT_OFF {
            return Err(Error::NotSupported);
        }
        // Who replaces it does not wait for its successor.
        if self.is_held_by(client, rule.interposer) {
            return Err(Error::Busy);
        }
        if self.wraps.wraps.is_full() {
            return Err(self.refuse(rule.interposer, Missing::Portals, Error::Exhausted));
        }
        let inner = self.blocks.room(interposer.domain, 1);
        let inner = inner.map_err(|error| self.refuse(rule.interposer, Missing::Entries, error))?;
        let mut wrap = Wrap {
            rule: *rule,
            client,
            server: range.pager,
            kind,
            first: first as u16,
            count: 1,
            inner: inner as u16,
            limits: 0,
            wrapping: Code::NONE,
            stride: 0,
            behalf: Code::NONE,
            came: 0,
            leaves: false,
        };
        let domain = self.instances.get(client)?.domain;
        wrap.wrapping = self.make_between(machine, &wrap, range, domain)?;
        wrap.came = wrap.wrapping.queue;
        let inside = self.wraps.newest(usize::MAX, |one| one.begins(client, first));
        let made = self.pass_faults_on(machine, &wrap, inside, range);
        wrap.behalf = made.inspect_err(|_| self.pools.give_back(wrap.wrapping))?;
        self.blocks.take_entries(interposer.domain, inner, 1);
        self.wraps.wraps.push(wrap)?;
        let code = wrap.code(machine, 0);
        self.hold_made(machine, client, &[code]);
        self.lead_faults(machine, domain, code);
        Ok(1)
    }

    /// The first of the portals of a domain's ranges.
    fn first_of_faults<M: Machine>(&self, machine: &M, domain: DomainId) -> u64 {
        machine.domain_word(domain, upcall_entry(PAGE_FAULTS[0]))
    }

    /// Lets all page faults of a domain begin with a portal.
    pub(super) fn lead_faults<M: Machine>(&self, machine: &M, domain: DomainId, code: u64) {
        for cause in PAGE_FAULTS {
            machine.set_domain_word(domain, upcall_entry(cause), code);
        }
    }

    /// The portals of a domain's ranges, one behind the other.
    fn portals_of_faults<'a, M: Machine>(
        &self,
        machine: &'a M,
        domain: DomainId,
    ) -> impl Iterator<Item = u64> + use<'a, M> {
        let is_of_faults = move |code: &u64| {
            let found =
                [LITERAL_RANGE_ENTRIES, LITERAL_RANGE].map(|at| literal(machine, *code, at));
            machine.layout().ranges.iter().any(|range| [range.entries, range.address] == found)
        };
        let first = self.first_of_faults(machine, domain);
        let next =
            move |code: &u64| Some(literal(machine, *code, LITERAL_ELSE)).filter(is_of_faults);
        core::iter::successors(Some(first).filter(is_of_faults), next)
    }

    /// The portal by which faults of a range call its pager: it is behind all that lead to interposers.
    pub(super) fn portal_of_range<M: Machine>(
        &self,
        machine: &M,
        domain: DomainId,
        range: &PagedRange,
    ) -> Option<u64> {
        let is_its = |code: &u64| literal(machine, *code, LITERAL_RANGE) == range.address;
        self.portals_of_faults(machine, domain).filter(is_its).last()
    }

    /// Generates a portal in an instance's part of portal code.
    #[cold]
    #[inline(never)]
    pub(super) fn put_fault<M: Machine>(
        &mut self,
        machine: &M,
        payer: InstanceId,
        generate: impl FnOnce(&mut [u32], u64) -> Result<Generated, GenerateError>,
    ) -> Result<Code, Error> {
        let most = (LONGEST as u64).div_ceil(GRANULE) as u16;
        let start = self.pools.room(machine, payer, most);
        let start = start.map_err(|error| self.refuse(payer, Missing::Portals, error))?;
        let address = machine.layout().granule(start);
        let words = <[u32]>::mut_from_bytes(self.faults.0.as_mut_bytes());
        let made = generate(words.map_err(|_| Error::Unknown)?, address);
        let Generated { size, .. } = made.map_err(|_| Error::NotSupported)?;
        let words = self.faults.0.get(..size / 8).ok_or(Error::Exhausted)?;
        write(machine.code(address, size), words);
        machine.publish()?;
        let granules = (size as u64).div_ceil(GRANULE) as u16;
        self.pools.take(payer, start, granules);
        Ok(Code { start, granules, ..Code::NONE })
    }

    /// The client's stacks in who is called.
    fn stacks<M: Machine>(
        &mut self,
        machine: &M,
        wrap: &Wrap,
        callee: &Instance,
    ) -> Result<u16, Error> {
        if callee.in_kernel != 0 {
            return Ok(u16::MAX);
        }
        let queue = self.pools.queue(machine, wrap.client, callee);
        let missing = Missing::Stacks(callee.number);
        queue.map_err(|error| self.refuse(self.origin(wrap.rule.interposer), missing, error))
    }

    /// Makes the portal by which faults of the client go to the interposer.
    #[cold]
    #[inline(never)]
    fn make_between<M: Machine>(
        &mut self,
        machine: &M,
        wrap: &Wrap,
        range: &PagedRange,
        domain: DomainId,
    ) -> Result<Code, Error> {
        let layout = machine.layout();
        let original = self.portal_of_range(machine, domain, range).ok_or(Error::NotFound)?;
        let back = literal(machine, original, LITERAL_RETURN);
        let between = FaultBetween {
            inner: wrap.word(0),
            again: literal(machine, original, LITERAL_AGAIN),
            size: CallFrame::of_word(literal(machine, back, LITERAL_FRAME)).size,
            unmended: literal(machine, back, LITERAL_ELSE),
        };
        let of = generate::PagedRange {
            first: range.address,
            size: range.size,
            entries: range.entries,
            is_writable: range.writable != 0,
            elsewhere: self.first_of_faults(machine, domain),
        };
        let (client, interposer) =
            (self.instances.get(wrap.client)?, self.instances.get(wrap.rule.interposer)?);
        let mut crossing = plan(client, interposer, Trust::default()).crossing;
        crossing.entry = wrap.rule.entry;
        crossing.constant = (usize::from(wrap.first) - FAULTS_FIRST) as u64;
        crossing.asids = layout.header.asid_bits != 0;
        let queue = self.stacks(machine, wrap, interposer)?;
        crossing.take_from(queue.into());
        let payer = self.origin(wrap.rule.interposer);
        let made = self.put_fault(machine, payer, |words, address| {
            generate::fault_between(&of, &between, &crossing, words, address)
        });
        let code = made.inspect_err(|_| self.pools.left(queue))?;
        Ok(Code { queue, ..code })
    }

    /// Makes the portal by which the interposer passes them on: to the interposer of the wrap `inside`, or to the pager. It leads there
    /// from here on.
    #[cold]
    #[inline(never)]
    fn pass_faults_on<M: Machine>(
        &mut self,
        machine: &M,
        wrap: &Wrap,
        inside: Option<usize>,
        range: &PagedRange,
    ) -> Result<Code, Error> {
        let layout = machine.layout();
        let Kind::Export(export) = wrap.kind else { return Err(Error::NotSupported) };
        let method = layout.methods_of(layout.export(export as usize)?).first();
        let method = method.ok_or(Error::NotFound)?;
        let inside = inside.and_then(|place| self.wraps.wraps.all().get(place)).copied();
        let interposer = self.instances.get(wrap.rule.interposer)?;
        let callee = inside.map_or(range.pager, |inside| inside.rule.interposer);
        let callee = self.instances.get(callee)?;
        let mut plan = plan(interposer, callee, Trust::default());
        if method.letters != LETTERS {
            return Err(Error::NotSupported);
        }
        let types = &Parameters::NONE;
        let specification = with_letters(plan.specification, &method.letters, types)?;
        let crossing = &mut plan.crossing;
        (crossing.entry, crossing.constant) = match inside {
            Some(inside) => (inside.rule.entry, inside.word(0)),
            None => (method.entry, 0),
        };
        if inside.is_none() {
            crossing.limits = layout.limits(wrap.kind);
        }
        crossing.services = layout.header.services;
        crossing.asids = layout.header.asid_bits != 0;
        let pager = inside.is_none().then_some(PagerMemory {
            first: callee.start_address,
            size: callee.entries_span,
            entry: callee.entries,
        });
        let fault = PassedFault {
            first: range.address,
            number: (usize::from(wrap.first) - FAULTS_FIRST) as u64,
            entries: range.entries,
            is_writable: range.writable != 0,
            pager,
        };
        crossing.behalf = Some(Behalf { client: wrap.client, queue: 0, fault: Some(fault) });
        let queue = self.stacks(machine, wrap, callee)?;
        if queue != u16::MAX {
            crossing.take_from(queue.into());
        }
        let payer = self.origin(wrap.rule.interposer);
        let made = self.put_fault(machine, payer, |words, address| {
            generate::pair(&specification, crossing, words, address)
        });
        let code = made.inspect_err(|_| self.pools.left(queue))?;
        let call = returns::code(machine, code.start);
        self.hold_made(machine, wrap.client, &[call]);
        machine.set_entry(interposer.domain, wrap.inner.into(), call, Published::by_layout());
        Ok(Code { queue, ..code })
    }

    /// Ends the wrap at a place, as [`Maker::unwrap`].
    #[cold]
    #[inline(never)]
    pub(super) fn unwrap_faults<M: Machine>(
        &mut self,
        machine: &M,
        number: usize,
    ) -> Result<(), Error> {
        let wrap = *self.wraps.wraps.all().get(number).ok_or(Error::NotFound)?;
        let range = wrap.range().and_then(|range| machine.layout().ranges.get(range));
        let range = range.ok_or(Error::NotFound)?;
        let (client, first) = (wrap.client, usize::from(wrap.first));
        let later = &self.wraps.wraps.all()[number + 1..];
        if let Some(distance) = later.iter().position(|one| one.begins(client, first)) {
            if self.wraps.wraps.is_full() {
                return Err(self.refuse(wrap.rule.interposer, Missing::Portals, Error::Exhausted));
            }
            let around = number + 1 + distance;
            let former = self.wraps.wraps.all()[around];
            let inside = self.wraps.newest(number, |one| one.begins(client, first));
            let behalf = self.pass_faults_on(machine, &former, inside, range)?;
            self.wraps.wraps.all_mut()[around].behalf = behalf;
            // A thread may come back by what was there.
            let left = Wrap { wrapping: Code::NONE, count: 0, leaves: true, ..former };
            self.wraps.wraps.push(left)?;
        }
        let code = returns::code(machine, wrap.wrapping.start);
        let next = literal(machine, code, LITERAL_ELSE);
        if let Ok(record) = self.instances.get(client) {
            let is_before = |one: &u64| literal(machine, *one, LITERAL_ELSE) == code;
            if self.first_of_faults(machine, record.domain) == code {
                self.lead_faults(machine, record.domain, next);
            } else if let Some(before) =
                self.portals_of_faults(machine, record.domain).find(is_before)
            {
                let literals = machine.code(before - LITERALS_SIZE as u64, LITERALS_SIZE as usize);
                write(literals.get(place(LITERAL_ELSE)..).unwrap_or(&[]), &[next]);
            }
        }
        let left = match self.callable(machine, client, wrap.server) {
            Ok(_) => Wrap { leaves: true, ..wrap },
            Err(_) => self.end_faults(machine, &wrap),
        };
        self.wraps.wraps.all_mut()[number] = left;
        Ok(())
    }

    /// Nobody passes faults of a wrap on any more; what it is then. Its code stays until nobody comes back by it, with the client's stacks in
    /// the interposer, but without those in who was called.
    #[cold]
    #[inline(never)]
    pub(super) fn end_faults<M: Machine>(&mut self, machine: &M, wrap: &Wrap) -> Wrap {
        self.end_behalf(machine, &Wrap { behalf: Code::NONE, ..*wrap });
        self.pools.left(wrap.behalf.queue);
        let behalf = Code { queue: u16::MAX, ..wrap.behalf };
        Wrap { behalf, leaves: true, ..*wrap }
    }
}
