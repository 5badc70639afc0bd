//! A domain that comes while the system runs: its block, as the layout makes those of the description, and the portals that each
//! domain has of its own.

use super::Maker;
use crate::area::GRANULE;
use crate::blocks::{Code, Kind};
use crate::crossing::{Entry, Target, write};
use crate::machine::{Layout, Machine};
use crate::refusals::Missing;
use cairn_abi::arch::trap::{ILLEGAL, slots};
use cairn_abi::descriptor::is_name;
use cairn_abi::domain::*;
use cairn_abi::record::Instance;
use cairn_abi::upcall::Upcall;
use cairn_abi::{Error, InstanceId};
use cairn_portal::{Crossing, End, GenerateError, Generated, ShortCircuit, Trust, generate, plan};
use zerocopy::{FromBytes, IntoBytes};

/// Granules among which the portals are made that a domain has of its own (held by a test).
pub(crate) const GRANULES_OF_DOMAIN: u16 = 16;
/// Bytes of the longest of them (held by the same).
const LONGEST: usize = 512;

/// What a thread in a domain enters by an exception or an interrupt: the interface, the method, and whether it clears the interrupt.
const UPCALLS: [(Upcall, &[u8], &[u8]); 5] = [
    (Upcall::Fault, b"SchedulerUpcalls", b"fault"),
    (Upcall::StackWait, b"SchedulerUpcalls", b"stack_wait"),
    (Upcall::Software, b"SchedulerUpcalls", b"software"),
    (Upcall::Timer, b"SchedulerUpcalls", b"timer"),
    (Upcall::External, b"InterruptUpcalls", b"external"),
];

const SHORT_CIRCUITS: [(usize, ShortCircuit); 3] = [
    (PORTAL_OWN_DOMAIN, ShortCircuit::OwnDomain),
    (PORTAL_OWN_THREAD, ShortCircuit::OwnThread),
    (PORTAL_TIME, ShortCircuit::Time),
];

/// Where portals are made one behind the other.
struct Site {
    at: u64,
    end: u64,
    words: [u64; LONGEST / 8],
}

impl Site {
    fn put<M: Machine>(
        &mut self,
        machine: &M,
        generate: impl FnOnce(&mut [u32], u64) -> Result<Generated, GenerateError>,
    ) -> Result<u64, Error> {
        let words =
            <[u32]>::mut_from_bytes(self.words.as_mut_bytes()).map_err(|_| Error::Unknown)?;
        let made = generate(words, self.at).map_err(|_| Error::Exhausted)?;
        if made.size as u64 > self.end - self.at {
            return Err(Error::Exhausted);
        }
        let words = self.words.get(..made.size / 8).ok_or(Error::Exhausted)?;
        write(machine.code(self.at, made.size), words);
        self.at += made.size as u64;
        Ok(made.call)
    }
}

impl Maker {
    /// There is a new instance, alone in its domain, which no thread is in: its portal table leads nowhere.
    pub fn make_domain<M: Machine>(
        &mut self,
        machine: &M,
        number: InstanceId,
    ) -> Result<&'static Instance, Error> {
        let record = machine.layout().instance(number)?;
        if record.in_kernel != 0 || record.run_to_completion != 0 || record.leader != number {
            return Err(Error::NotSupported);
        }
        if machine.check_alive(record.domain).is_ok() || self.instances.get(number).is_ok() {
            return Err(Error::Busy);
        }
        clear_table(machine, record);
        self.add_domain(machine, record, true)?;
        self.pools.add_server(machine, record);
        if let Err(error) = self.fill_domain(machine, record) {
            self.forget(machine, record);
            return Err(error);
        }
        Ok(record)
    }

    fn fill_domain<M: Machine>(&mut self, machine: &M, record: &Instance) -> Result<(), Error> {
        let layout = machine.layout();
        let number = record.number;
        let start = self.pools.room(machine, number, GRANULES_OF_DOMAIN);
        let start = start.map_err(|error| self.refuse(number, Missing::Portals, error))?;
        let base = layout.granule(start);
        let end = base + u64::from(GRANULES_OF_DOMAIN) * GRANULE;
        let mut site = Site { at: base, end, words: [0; LONGEST / 8] };

        let caller = End::of(record);
        let mut upcalls = [0; UPCALLS.len()];
        for (code, (upcall, interface, method)) in upcalls.iter_mut().zip(UPCALLS) {
            // A system without devices has no dispatcher.
            let Some(crossing) = self.upcall(layout, interface, method) else { continue };
            let crossing = Crossing { caller, ..crossing };
            *code = site.put(machine, |words, address| {
                generate::upcall(&crossing, upcall == Upcall::Software, words, address)
            })?;
        }
        let mut own = [0; SHORT_CIRCUITS.len()];
        for (code, (_, kind)) in own.iter_mut().zip(SHORT_CIRCUITS) {
            let crossing = Crossing { caller, ..Crossing::NONE };
            *code = site.put(machine, |words, address| {
                generate::short_circuit(kind, &crossing, words, address)
            })?;
        }
        let published = machine.publish()?;
        let granules = (site.at - base).div_ceil(GRANULE) as u16;
        self.pools.take(number, start, granules);
        self.pools.used_by_domain(number, Code { start, granules, ..Code::NONE });

        let domain = record.domain;
        machine.set_domain_word(domain, FIELD_SPACE, record.space.word());
        machine.set_domain_word(domain, FIELD_NUMBER, domain.into());
        for (offset, bytes) in (FIELD_NAME..).step_by(8).zip(record.name.as_chunks::<8>().0) {
            machine.set_domain_word(domain, offset, u64::from_le_bytes(*bytes));
        }
        let codes = UPCALLS.iter().zip(upcalls).filter(|(_, code)| *code != 0);
        for ((upcall, ..), code) in codes {
            for slot in slots(*upcall) {
                machine.set_domain_word(domain, upcall_entry(*slot), code);
            }
        }
        if record.has_float() {
            let first_use = layout.header.float_first_use;
            machine.set_domain_word(domain, upcall_entry(ILLEGAL), first_use);
        }
        for ((index, _), code) in SHORT_CIRCUITS.iter().zip(own) {
            machine.set_entry(domain, *index, code, published);
        }
        Ok(())
    }

    /// The crossing of an upcall, but for where it comes from. Any component can have an interface of that name; the one that is meant
    /// runs to completion.
    fn upcall(&self, layout: &Layout, interface: &[u8], method: &[u8]) -> Option<Crossing> {
        let mut exports = layout.exports.iter().filter(|one| is_name(&one.interface, interface));
        let (export, server) = exports.find_map(|export| {
            let server = self.instances.get(export.instance).ok()?;
            (server.run_to_completion != 0).then_some((export, server))
        })?;
        let method = layout.methods_of(export).iter().find(|one| is_name(&one.name, method))?;
        Some(Crossing {
            entry: method.entry,
            services: layout.header.services,
            asids: layout.header.asid_bits != 0,
            ..plan(server, server, Trust::default()).crossing
        })
    }

    /// Lets an import of an instance, at the index for which it was built, lead to what `target` says. It stays until one of the two
    /// retires.
    pub fn import<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        first: usize,
        target: &Target,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let domain = self.instances.get(client)?.domain;
        if !self.blocks.are_free(domain, first, count) {
            return Err(self.refuse(client, Missing::Entries, Error::Exhausted));
        }
        self.make_at(machine, client, target, (first, count, true), method)
    }

    /// The export to which an import of an instance leads that begins at an index, interposers apart.
    pub fn import_at<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        first: usize,
    ) -> Option<u32> {
        let described = machine.layout().connection(client, first);
        let described = described.filter(|one| self.is_laid_out(machine, client, one));
        described.filter(|one| one.method == 0).map(|one| one.export).or_else(|| {
            let block = self.blocks.open_at(client, first);
            let block = block.filter(|block| block.is_import && block.first() == first)?;
            match block.kind {
                Kind::Export(number) => Some(number),
                _ => None,
            }
        })
    }

    /// What a domain had of its own goes back, and nothing of its block leads there.
    pub(super) fn forget_domain<M: Machine>(&mut self, machine: &M, record: &Instance) {
        if self.pools.give_back_domain(record.number) {
            clear_table(machine, record);
        }
    }
}

/// Whatever is entered in a domain leads nowhere, or ends the system, since nobody is there.
fn clear_table<M: Machine>(machine: &M, record: &Instance) {
    let (layout, domain) = (machine.layout(), record.domain);
    for index in 0..layout.tables().entries() {
        machine.set_domain_word(domain, index as i64 * 8, layout.header.no_portal);
    }
    for slot in 0..UPCALL_SLOTS {
        machine.set_domain_word(domain, upcall_entry(slot), layout.header.fatal);
    }
}
