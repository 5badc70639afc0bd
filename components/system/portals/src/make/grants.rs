//! Passing on what an instance holds, and taking it back.

use super::{Maker, install};
use crate::blocks::{Block, Kind, Wanted};
use crate::crossing::{Entry, Target};
use crate::grants::{Grant, Grants};
use crate::machine::Machine;
use crate::refusals::Missing;
use cairn_abi::descriptor::METHODS_MAXIMUM;
use cairn_abi::grant::{Rights, UNLIMITED, limits};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{AtomicI64, Ordering};

impl Maker {
    /// All grants.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Offers what a client holds, at `first` of its table, to another: the word that names the grant to both.
    pub fn grant<M: Machine>(
        &mut self,
        machine: &M,
        (client, first): (InstanceId, u64),
        receiver: InstanceId,
        mut rights: Rights,
    ) -> Result<u64, Error> {
        self.living(machine, receiver)?;
        let place = self.blocks.at(client, first)?;
        let block = self.blocks.get(place);
        if !block.is_open() {
            return Err(Error::NotFound);
        }
        // A portal that is measured is nobody's service.
        if block.kind == Kind::Export(u32::MAX) {
            return Err(Error::NotSupported);
        }
        // No component is called by its own portals, and what is its own it has, for good.
        if receiver == client || receiver == block.server || receiver == block.owner {
            return Err(Error::NotAllowed);
        }
        let above = self.grants.by(place);
        let held = above.map(|above| self.grants.get(above).rights);
        rights.methods &= (1 << block.count) - 1;
        if let Some(held) = held {
            rights.methods &= held.methods;
            rights.until = match (rights.until, held.until) {
                (0, until) | (until, 0) => until,
                (one, other) => one.min(other),
            };
        }
        if rights.methods == 0 {
            return Err(Error::BadArgument);
        }
        let part = self.pools.grants();
        let checked = self.grants.check((client, place), rights.passes, part);
        checked.map_err(|error| self.refuse(client, Missing::Grants, error))?;
        // Calls are divided: what is passed on of them, who passes on has no more.
        if let (Some(above), Some(Rights { uses: 1.., .. })) = (above, held) {
            let [uses, _] = machine.limits(above.place()).ok_or(Error::NotSupported)?;
            rights.uses = take(uses, rights.uses).ok_or(Error::Exhausted)?;
        }
        let grant = self.grants.make((client, place), receiver, rights, part)?;
        if let Some([uses, until]) = machine.limits(grant.place()) {
            let or_none = |limit: u64| if limit == 0 { UNLIMITED } else { limit } as i64;
            uses.store(or_none(rights.uses.into()), Ordering::Relaxed);
            until.store(or_none(rights.until), Ordering::Relaxed);
        }
        Ok(self.grants.word(grant))
    }

    /// What is offered to `receiver` by this word, if it is `granter` who offers it.
    pub fn offered<M: Machine>(
        &self,
        machine: &M,
        receiver: InstanceId,
        granter: InstanceId,
        word: u64,
    ) -> Result<Grant, Error> {
        let grant = self.grants.find(word)?;
        let node = self.grants.get(grant);
        let block = self.blocks.get(node.from());
        let is_offered = node.to().is_none() && node.receiver == receiver;
        if !is_offered || block.client != granter || !block.is_open() {
            return Err(Error::NotFound);
        }
        // While its steps of death are taken it may be there still.
        self.living(machine, granter)?;
        Ok(grant)
    }

    /// The block of which a grant was made.
    pub fn granted(&self, grant: Grant) -> &Block {
        self.blocks.get(self.grants.get(grant).from())
    }

    /// Makes the portals of a grant in its receiver's table, where that reserved a place for them, or anywhere: only those of the methods
    /// that it has a right to. The value is the first index.
    pub fn accept<M: Machine>(
        &mut self,
        machine: &M,
        (grant, reserved): (Grant, Option<usize>),
        target: &Target,
        count: usize,
        method: impl Fn(usize) -> Entry,
    ) -> Result<u64, Error> {
        let Rights { methods, .. } = self.grants.get(grant).rights;
        let client = self.grants.get(grant).receiver;
        let limits = self.limits(grant);
        let target = Target { limits, ..*target };
        let Target { kind, server, owner, .. } = target;
        let ends =
            (self.instances.get(client)?, self.callable_for(machine, client, (kind, server))?);
        let domain = ends.0.domain;
        let first = match reserved {
            Some(place) => self.blocks.get(place).first(),
            None => {
                self.within_share(client)?;
                let room = self.blocks.room(domain, count);
                room.map_err(|error| self.refuse(client, Missing::Entries, error))?
            }
        };
        let mut calls = [0; METHODS_MAXIMUM];
        let calls = calls.get_mut(..count).ok_or(Error::TooLarge)?;
        let (forms, published) = self.generate(machine, ends, &target, first, &method, calls)?;
        for (index, call) in calls.iter_mut().enumerate() {
            if methods >> index & 1 == 0 {
                *call = machine.layout().header.no_portal;
            }
        }
        let place = match reserved {
            Some(place) => {
                self.blocks.fill_of(place, kind, (server, owner), forms);
                place
            }
            None => {
                let wanted =
                    Wanted { kind, client, domain, server, owner, count, is_import: false };
                self.blocks.add(first, &wanted, forms)
            }
        };
        if self.has_rules() {
            self.wrap_made(machine, (place, reserved.is_some(), limits), &method, calls)?;
        }
        self.grants.accept(grant, place);
        install(machine, domain, first, calls, published);
        Ok(first as u64)
    }

    /// The export that an import of a client leads to now, interposers apart, if one begins at this index.
    pub fn export_behind<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        first: usize,
    ) -> Option<u32> {
        let Some(place) = self.exchanged(client, first) else {
            return self.import_at(machine, client, first);
        };
        let block = self.blocks.open_at(client, place);
        match block.filter(|block| block.first() == place)?.kind {
            Kind::Export(number) => Some(number),
            _ => None,
        }
    }

    /// Address of the words that the portals of a client's block look at; zero: they look at none.
    pub fn limits_of(&self, client: InstanceId, first: usize) -> u64 {
        let place = self.blocks.at(client, first as u64).ok();
        place.and_then(|place| self.grants.by(place)).map_or(0, |grant| self.limits(grant))
    }

    /// Whether a client has what is at an index of its because another granted it.
    pub fn is_granted(&self, client: InstanceId, first: usize) -> bool {
        self.blocks.at(client, first as u64).is_ok_and(|place| self.grants.by(place).is_some())
    }

    /// Address of the words that a grant's portals look at; zero: they look at none.
    fn limits(&self, grant: Grant) -> u64 {
        match self.grants.get(grant).rights.is_limited() {
            true => limits(grant.place()),
            false => 0,
        }
    }

    /// Takes a grant of a client's back, with all that came of it. Calls that are inside come back.
    pub fn revoke_grant<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        word: u64,
    ) -> Result<(), Error> {
        let grant = self.grants.find(word)?;
        let node = *self.grants.get(grant);
        if self.blocks.get(node.from()).client != client {
            return Err(Error::NotFound);
        }
        match node.to() {
            Some(block) => self.end(machine, block),
            None => self.forget_grant(machine, grant),
        }
        Ok(())
    }

    /// A block ends: so does what came of it, and the grant by which it is held.
    #[inline(always)]
    pub(super) fn end_grants<M: Machine>(&mut self, machine: &M, place: usize) {
        if self.grants.concern(place) {
            self.end_all_grants(machine, place);
        }
    }

    #[inline(never)]
    fn end_all_grants<M: Machine>(&mut self, machine: &M, place: usize) {
        self.revoke_from(machine, place, usize::MAX);
        if let Some(by) = self.grants.by(place) {
            self.forget_grant(machine, by);
        }
    }

    /// Ends what came of a block, in at most so many steps; the value is how many it took. Each receiver's block ends before what came of
    /// that in turn, so that nothing more comes of it meanwhile.
    pub(super) fn revoke_from<M: Machine>(
        &mut self,
        machine: &M,
        place: usize,
        most: usize,
    ) -> usize {
        let (mut at, mut count) = (place, 0);
        while count < most {
            let Some(grant) = self.grants.first_of(at) else {
                match self.grants.by(at).filter(|_| at != place) {
                    Some(by) => at = self.grants.get(by).from(),
                    None => break,
                }
                continue;
            };
            if let Some(block) = self.grants.get(grant).to() {
                if self.blocks.get(block).is_open() {
                    self.end_alone(machine, block);
                    count += 1;
                    continue;
                }
                if self.grants.first_of(block).is_some() {
                    at = block;
                    continue;
                }
            }
            self.forget_grant(machine, grant);
            count += 1;
        }
        count
    }

    /// Takes one grant back that is offered to an instance which is dead; whether there was one.
    pub(super) fn withdraw_from<M: Machine>(&mut self, machine: &M, dead: InstanceId) -> bool {
        let grant = self.grants.offered_to(dead);
        grant.inspect(|grant| self.forget_grant(machine, *grant)).is_some()
    }

    /// Forgets a grant whose portals are gone. Calls that were not made go back to who divided them.
    fn forget_grant<M: Machine>(&mut self, machine: &M, grant: Grant) {
        let node = self.grants.get(grant);
        let words = |grant: Grant| Some(&machine.limits(grant.place())?[0]);
        if node.rights.uses != 0
            && let Some(above) = self.grants.by(node.from())
            && self.grants.get(above).rights.uses != 0
            && let (Some(left), Some(above)) = (words(grant), words(above))
        {
            above.fetch_add(left.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.grants.remove(grant);
    }

    /// What is left of a grant's calls; none: any number.
    pub fn uses_left<M: Machine>(&self, machine: &M, grant: Grant) -> Option<u64> {
        let [uses, _] = machine.limits(grant.place())?;
        let is_limited = self.grants.get(grant).rights.uses != 0;
        is_limited.then(|| uses.load(Ordering::Relaxed) as u64)
    }
}

/// Takes calls from those that are left: so many, or all. `None`: there are not as many. Threads make calls meanwhile, each of
/// them takes from the same word.
fn take(uses: &AtomicI64, wanted: u32) -> Option<u32> {
    let rest = |left: i64| match wanted {
        0 if left > 0 => Some(0),
        1.. if i64::from(wanted) <= left => Some(left - i64::from(wanted)),
        _ => None,
    };
    let before = uses.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).ok()?;
    Some(if wanted == 0 { before as u32 } else { wanted })
}
