//! Copies of instances: what they have leads to their parents first, and ends with what those have.

use super::{Maker, install};
use crate::blocks::{Forms, Wanted};
use crate::crossing::{Entry, Target};
use crate::machine::{Machine, Published};
use crate::refusals::Missing;
use crate::wraps::Wrap;
use cairn_abi::descriptor::METHODS_MAXIMUM;
use cairn_abi::{Error, InstanceId};

impl Maker {
    /// Whether a wrap is by which a copy has what its parent has.
    fn is_of_copy(&self, wrap: &Wrap, parent: InstanceId, first: usize) -> bool {
        wrap.rule.is_of_copy && wrap.rule.interposer == parent && wrap.begins(wrap.client, first)
    }

    /// The instance of which one is a copy, or a copy of a copy: it pays for what its copies stand before, too.
    pub(super) fn origin(&self, instance: InstanceId) -> InstanceId {
        let parent = |one: &InstanceId| {
            let mut rules = self.wraps.rules.all().iter();
            Some(rules.find(|rule| rule.is_of_copy && rule.client == *one)?.interposer)
        };
        core::iter::successors(Some(instance), parent).last().unwrap_or(instance)
    }

    /// Lets indexes of a copy that has not begun lead to what its parent has at the same ones, as the rules say: without its parent
    /// between it has nothing.
    pub fn copy<M: Machine>(
        &mut self,
        machine: &M,
        (client, parent, first): (InstanceId, InstanceId, usize),
        target: &Target,
        (count, is_import): (usize, bool),
        method: &dyn Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let Target { kind, server, owner, .. } = *target;
        self.callable_for(machine, client, (kind, server))?;
        let domain = self.instances.get(client)?.domain;
        if !self.blocks.are_free(domain, first, count) {
            return Err(self.refuse(client, Missing::Entries, Error::Exhausted));
        }
        self.within_share(client)?;
        let mut calls = [0; METHODS_MAXIMUM];
        let calls = calls.get_mut(..count).ok_or(Error::TooLarge)?;
        // No code of its own: what its parent's is made of is in its parent's, which is there for as long.
        for (call, index) in calls.iter_mut().zip(first..) {
            *call = self.original(machine, parent, index);
        }
        let wanted = Wanted { kind, client, domain, server, owner, count, is_import };
        let place = self.blocks.add(first, &wanted, Forms::NONE);
        self.wrap_made(machine, (place, false, 0), method, calls)?;
        let wraps = self.wraps.wraps.all();
        if !wraps.iter().any(|one| one.client == client && self.is_of_copy(one, parent, first)) {
            self.close(machine, place);
            return Err(Error::NotSupported);
        }
        install(machine, domain, first, calls, Published::by_layout());
        Ok(())
    }

    /// What copies of a block's client have because of the block ends with it, theirs before it.
    #[inline(always)]
    pub(super) fn end_copies<M: Machine>(&mut self, machine: &M, place: usize) {
        if self.has_rules() {
            let block = self.blocks.get(place);
            self.end_copies_of(machine, block.client, block.first());
        }
    }

    #[cold]
    #[inline(never)]
    fn end_copies_of<M: Machine>(&mut self, machine: &M, parent: InstanceId, first: usize) {
        let copy = |maker: &Maker, of: InstanceId| {
            let mut wraps = maker.wraps.wraps.all().iter();
            wraps.find(|wrap| maker.is_of_copy(wrap, of, first)).map(|wrap| wrap.client)
        };
        while let Some(mut last) = copy(self, parent) {
            while let Some(next) = copy(self, last) {
                last = next;
            }
            match self.blocks.live_at(last, first) {
                Some(place) => self.end_one(machine, place),
                None => self.forget_wraps(machine, last, first),
            }
        }
    }
}
