//! Portals to an instance that moves from a domain of its own to its other place and back.
//!
//! What lies between caller and callee is not the same at both places, so each of these portals has two *forms*, code for either. The layout
//! makes both for its connections, and what is made here has both from the beginning, out of its client's part. So a move takes no room, and no
//! client can be in the way of one. An index leads to the form of the place where the instance is. Only calls into a domain take stacks and
//! can wait, so while it is held for a move the indexes of all who wait lead to the form of the place where it begins. In the page table of another it has
//! the same stacks, so both forms take them from the same queue.
//!
//! Behind the code of each form of a block stands where its portals are, a word each.

use super::Maker;
use super::leads::Lead;
use crate::area::GRANULE;
use crate::blocks::{Block, Code, Forms, NO_INSTANCE};
use crate::crossing::{Entry, Target, write};
use crate::machine::{Layout, Machine, Published};
use cairn_abi::record::{Instance, Portal};
use cairn_abi::{DomainId, Error, InstanceId};
// Relaxed: one hart; only this manager reads and writes these words.
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Bytes that a block of so many portals to a server has behind the code of each form.
#[inline(always)]
pub(super) fn table_size(server: &Instance, count: usize) -> u64 {
    if server.other_place == NO_INSTANCE { 0 } else { count as u64 * 8 }
}

/// Where the portals of a block with this code are.
fn table<M: Machine>(machine: &M, code: Code, count: usize) -> &[AtomicI64] {
    let end = machine.layout().granule(code.start) + u64::from(code.granules) * GRANULE;
    machine.code(end - count as u64 * 8, count * 8)
}

/// The code of a method of a block while its server is where it begins, and while it is in its other place, if that moves.
pub(super) fn forms<M: Machine>(machine: &M, block: &Block, method: usize) -> Option<(u64, u64)> {
    let Forms { code, elsewhere } = block.forms();
    if elsewhere.granules == 0 {
        return None;
    }
    let portal = |form: Code| {
        let word = table(machine, form, block.count.into()).get(method)?;
        Some(word.load(Relaxed) as u64)
    };
    Some((portal(code)?, portal(elsewhere)?))
}

/// Whether an instance can move: it has another place, and nobody's pages are its to provide, nor its own another's.
pub(super) fn can_move(layout: &Layout, record: &Instance) -> bool {
    let place = layout.instance(record.other_place);
    place.is_ok_and(|place| place.is_other_place() && place.successor_of == record.number)
        && layout.ranges.iter().all(|range| range.client != record.number)
}

impl Maker {
    /// Generates both forms of a block; see [`Maker::generate`]. `calls` is what its indexes are to lead to now.
    #[cold]
    #[inline(never)]
    pub(super) fn generate_forms<M: Machine>(
        &mut self,
        machine: &M,
        (caller, server): (&Instance, &Instance),
        target: &Target,
        first: usize,
        method: &dyn Fn(usize) -> Entry,
        calls: &mut [u64],
    ) -> Result<(Forms, Published), Error> {
        let other = machine.layout().instance(server.other_place)?;
        let (home, away) = if server.is_away != 0 { (other, server) } else { (server, other) };
        let ends = (caller, home, server);
        let (code, _) = self.generate_form(machine, ends, target, first, method, calls)?;
        write(table(machine, code, calls.len()), calls);
        let ends = (caller, away, server);
        let made = self.generate_form(machine, ends, target, first, method, calls);
        let (elsewhere, published) = made.inspect_err(|_| self.pools.give_back(code))?;
        let places = table(machine, elsewhere, calls.len());
        write(places, calls);
        if !self.enters_other_place(caller.number, server) {
            let places = table(machine, code, calls.len());
            let both = calls.iter_mut().zip(places);
            both.for_each(|(call, place)| *call = place.load(Relaxed) as u64);
        }
        Ok((Forms { code, elsewhere }, published))
    }

    /// Whether what a client has of a server that moves leads into its other place now.
    fn enters_other_place(&self, client: InstanceId, server: &Instance) -> bool {
        server.is_away != 0 && !self.holds(client, server.number)
    }

    /// The code that a connection of the layout is to lead to now.
    pub(super) fn laid_out<M: Machine>(&self, machine: &M, portal: &Portal) -> u64 {
        if portal.code_elsewhere == 0 {
            return portal.code;
        }
        let export = machine.layout().exports.get(portal.export as usize);
        let server = export.and_then(|export| self.instances.get(export.instance).ok());
        let is_away = server.is_some_and(|server| self.enters_other_place(portal.client, server));
        if is_away { portal.code_elsewhere } else { portal.code }
    }

    /// Lets the index of a portal lead to one of its forms, if it leads to the other: another interposer, or another server, may be there.
    pub(super) fn show<M: Machine>(&self, machine: &M, lead: &Lead, is_away: bool) {
        if lead.elsewhere == 0 {
            return;
        }
        let mut forms = [lead.elsewhere, lead.code];
        if is_away {
            forms.reverse();
        }
        let (domain, first, method) = lead.at;
        let set = |first: usize| {
            let index = first + method;
            if machine.entry(domain, index) == forms[0] {
                machine.set_entry(domain, index, forms[1], Published::by_layout());
            }
        };
        set(first);
        // An import can lead where the block does.
        if let Some(import) = self.exchanges.import_of(domain, first) {
            set(import);
        }
    }

    /// The domain in whose table the layout connected a client: also the place of one that moves where it is not now, with the number of that.
    pub(super) fn table_of(&self, layout: &Layout, client: InstanceId) -> Option<DomainId> {
        if let Ok(record) = self.instances.get(client) {
            return Some(record.domain);
        }
        let place = layout.instance(client).ok().filter(|one| one.is_other_place())?;
        Some(place.domain)
    }

    /// Nobody stands between an instance and others: what that is made of is for the place where it is. `NotAllowed`: somebody does, or will;
    /// `Busy`: not any more, but threads are on their way.
    pub(super) fn check_unwrapped<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
    ) -> Result<(), Error> {
        self.sweep(machine);
        let mut wraps = self.wraps.wraps.all().iter().filter(|wrap| wrap.is_of(instance));
        let rules = || self.wraps.rules.all().iter().any(|rule| rule.names(instance));
        match wraps.clone().any(|wrap| !wrap.leaves) || rules() {
            true => Err(Error::NotAllowed),
            false if wraps.next().is_some() => Err(Error::Busy),
            false => Ok(()),
        }
    }
}
