//! How wraps end: a client's portals lead where they did before, and what was on its way comes there or nowhere.

use super::Maker;
use super::wrap::literal;
use crate::blocks::{Block, Code};
use crate::crossing::Entry;
use crate::machine::{Machine, Published};
use crate::wraps::Wrap;
use cairn_abi::descriptor::METHODS_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use cairn_portal::literal::*;

impl Maker {
    /// Ends the wrap at a place: its portals lead to what they led to before. The interposer keeps what it calls by until no thread
    /// of the client is in it any more. If another wrap is around it, that leads on to what is behind; `method` as in [`Portals`].
    pub fn unwrap<M: Machine>(
        &mut self,
        machine: &M,
        number: usize,
        method: &dyn Fn(usize) -> Entry,
    ) -> Result<(), Error> {
        let wrap = *self.wraps.wraps.all().get(number).ok_or(Error::NotFound)?;
        if wrap.range().is_some() {
            return self.unwrap_faults(machine, number);
        }
        let (client, first) = (wrap.client, usize::from(wrap.first));
        let mut originals = [0; METHODS_MAXIMUM];
        let originals = originals.get_mut(..wrap.count.into()).ok_or(Error::TooLarge)?;
        for (index, original) in originals.iter_mut().enumerate() {
            *original = match wrap.rule.is_of_copy {
                // A copy has nothing without its parent.
                true => machine.layout().header.no_portal,
                false => literal(machine, wrap.code(machine, index), LITERAL_ORIGINAL),
            };
        }
        let later = &self.wraps.wraps.all()[number + 1..];
        match later.iter().position(|one| one.begins(client, first)) {
            None => {
                for (index, original) in originals.iter().enumerate() {
                    self.lead(machine, (client, first), index, *original);
                }
            }
            Some(distance) => {
                let around = number + 1 + distance;
                let inside = self.wraps.newest(number, |one| one.begins(client, first));
                let former = self.wraps.wraps.all()[around];
                // What this one stands for, if it is the innermost.
                let behalf = self.lead_on(machine, &former, inside, originals, method)?;
                self.pools.give_back(former.behalf);
                self.wraps.wraps.all_mut()[around].behalf = behalf;
                for (index, original) in originals.iter().enumerate() {
                    self.set_original(machine, former.code(machine, index), *original);
                }
            }
        }
        self.pools.give_back(wrap.wrapping);
        let mut left = Wrap { wrapping: Code::NONE, leaves: true, ..wrap };
        // Whoever comes under the number of a server that is gone has nothing to do with what was on its way.
        if self.callable(machine, wrap.client, wrap.server).is_err() {
            self.end_behalf(machine, &wrap);
            left.behalf = Code::NONE;
        }
        self.wraps.wraps.all_mut()[number] = left;
        Ok(())
    }

    /// The block or import of a client that begins at an index is no more: what interposers have of it leads nowhere, also for
    /// calls that were on their way when a wrap of it ended. The caller changes the client's table.
    #[cold]
    #[inline(never)]
    pub(super) fn forget_wraps<M: Machine>(
        &mut self,
        machine: &M,
        client: InstanceId,
        first: usize,
    ) {
        self.lead_nowhere(machine, |one| one.client == client && usize::from(one.first) == first);
    }

    /// What was on its way to a server when a wrap ended comes nowhere, since that is gone for good.
    pub fn forget_server<M: Machine>(&mut self, machine: &M, server: InstanceId) {
        self.lead_nowhere(machine, |one| one.leaves && one.server == server);
    }

    /// Ends the wraps that are chosen, those that are over already included: no thread gets through them any more.
    fn lead_nowhere<M: Machine>(&mut self, machine: &M, chosen: impl Fn(&Wrap) -> bool) {
        for number in 0..self.wraps.wraps.all().len() {
            let wrap = self.wraps.wraps.all()[number];
            if chosen(&wrap) {
                let left = if wrap.range().is_some() {
                    self.end_faults(machine, &wrap)
                } else {
                    self.pools.give_back(wrap.wrapping);
                    self.end_behalf(machine, &wrap);
                    Wrap { wrapping: Code::NONE, behalf: Code::NONE, leaves: true, ..wrap }
                };
                self.wraps.wraps.all_mut()[number] = left;
            }
        }
    }

    /// Lets the indexes that an interposer has for a wrap lead nowhere.
    pub(super) fn end_behalf<M: Machine>(&mut self, machine: &M, wrap: &Wrap) {
        if let Ok(interposer) = self.instances.get(wrap.rule.interposer) {
            let first = usize::from(wrap.inner);
            for index in first..first + usize::from(wrap.count) {
                let no_portal = machine.layout().header.no_portal;
                machine.set_entry(interposer.domain, index, no_portal, Published::by_layout());
            }
        }
        self.pools.give_back(wrap.behalf);
    }

    /// Forgets the wraps that are over, in whose interposer no thread of the client is any more.
    pub fn sweep<M: Machine>(&mut self, machine: &M) {
        let mut number = self.wraps.wraps.all().len();
        while let Some(place) = self.wraps.newest(number, |wrap| wrap.leaves) {
            number = place;
            let wrap = self.wraps.wraps.all()[place];
            if self.pools.is_complete(machine, wrap.came) {
                self.end_behalf(machine, &wrap);
                // Of faults: frames of the client's threads named it.
                self.pools.give_back(wrap.wrapping);
                if let Ok(interposer) = self.instances.get(wrap.rule.interposer) {
                    let (inner, count) = (wrap.inner.into(), wrap.count.into());
                    self.blocks.release_entries(interposer.domain, inner, count);
                }
                self.wraps.wraps.remove(place);
            }
        }
    }

    /// A block ends.
    pub(super) fn forget_wraps_of<M: Machine>(&mut self, machine: &M, block: &Block) {
        if !self.wraps.wraps.all().is_empty() {
            self.forget_wraps(machine, block.client, block.first());
        }
    }
}
