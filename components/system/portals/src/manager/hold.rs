//! An instance whose content is exchanged while its clients wait.

use super::{BLOCKS_PER_STEP, Manager};
use crate::blocks::NO_INSTANCE;
use crate::known::Client;
use crate::machine::Machine;
use crate::make::Purpose;
use cairn_abi::{Error, InstanceId};

impl Manager {
    /// Begins to hold an instance: calls to it but those of its holder wait when [`Manager::hold_step`] says so.
    pub fn begin_hold<M: Machine>(
        &mut self,
        machine: &M,
        holder: Client,
        held: InstanceId,
        purpose: Purpose,
    ) -> Result<(), Error> {
        let holder = holder.alive(machine)?;
        self.maker.begin_hold(machine, holder, held, purpose)
    }

    /// A client's portals from an index on enter the content of a successor that is joined, or what the record says of their server.
    pub fn lead<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        first: u64,
        to: InstanceId,
    ) -> Result<(), Error> {
        self.maker.lead_client(machine, client, first, to)
    }

    /// A step of holding; whether it was the last. After an error nothing is held.
    pub fn hold_step<M: Machine>(
        &mut self,
        machine: &M,
        holder: InstanceId,
        held: InstanceId,
    ) -> Result<bool, Error> {
        self.maker.hold_step(machine, holder, held)
    }

    /// A step of releasing an instance for its holder; whether it was the last. The first is the one that can fail.
    pub fn release_step<M: Machine>(
        &mut self,
        machine: &M,
        holder: InstanceId,
        held: InstanceId,
    ) -> Result<bool, Error> {
        match self.maker.is_held_by(holder, held) {
            true => self.maker.release_step(machine, self.entrance_of_held()),
            false => Err(Error::NotFound),
        }
    }

    /// Where who is held is entered as an interposer.
    fn entrance_of_held(&self) -> Option<u64> {
        self.maker.held().and_then(|held| self.entrance_of(held))
    }

    /// A step of what the death of a holder means to who is held; whether there is more.
    pub(super) fn release_held_by<M: Machine>(&mut self, machine: &M, dead: InstanceId) -> bool {
        self.maker.release_held_by(machine, dead, self.entrance_of_held())
    }

    /// A step of releasing who is held by nobody any more, before the content goes that has this number; whether there is more. `Busy`: somebody may be in that.
    pub(super) fn release_left<M: Machine>(
        &mut self,
        machine: &M,
        number: InstanceId,
    ) -> Result<bool, Error> {
        self.maker.release_left(machine, number, self.entrance_of_held())
    }

    /// Whether no thread is in a call to an instance, but for those of one client.
    pub fn is_quiet<M: Machine>(
        &self,
        machine: &M,
        server: InstanceId,
        but: InstanceId,
    ) -> Result<bool, Error> {
        self.maker.instances().get(server)?;
        Ok(self.maker.is_quiet(machine, server, but))
    }

    /// A step of the end of a life that has a successor, from a place on; the next place, or 0: it was the last.
    pub fn leave_domain<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
        from: u64,
    ) -> Result<u64, Error> {
        let record = self.maker.instances().get(instance)?;
        if instance == self.maker.own() {
            return Err(Error::NotAllowed);
        }
        if machine.check_alive(record.domain).is_ok() {
            return Err(Error::Busy);
        }
        if self.release_held_by(machine, instance) {
            return Ok(from.max(1));
        }
        // The first place is that of the value 1.
        let place = usize::try_from(from.saturating_sub(1)).map_err(|_| Error::BadArgument)?;
        if let Some(next) = self.maker.leave_step(machine, instance, place, BLOCKS_PER_STEP) {
            return Ok(next as u64 + 1);
        }
        self.registrations.forget_of(instance, |_| true);
        machine.remove_names(instance);
        Ok(0)
    }

    /// Lets some of the portals to an instance, from a place on, enter it where the record says; where the next step begins, if there is one.
    pub fn relink<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
        place: usize,
    ) -> Result<Option<usize>, Error> {
        self.maker.relink(machine, instance, place)
    }

    /// Who is held and lives again is entered where it has registered when it is released. `NotReady`: it has not.
    pub fn enter_between(&mut self, instance: InstanceId) -> Result<(), Error> {
        self.maker.enter_between(instance, self.entrance_of(instance))
    }

    /// A step of releasing an instance that nobody holds any more, and that has registered its entrance; whether there is more.
    pub fn go_on_step<M: Machine>(&mut self, machine: &M, held: InstanceId) -> Result<bool, Error> {
        match self.maker.is_left_held(held) {
            true => self.release_step(machine, NO_INSTANCE, held).map(|is_last| !is_last),
            false => Ok(false),
        }
    }

    /// Lets some of the portals that lead to the first of a pair lead to the second, from a place on; where the next step begins, if there is one.
    pub fn repoint<M: Machine>(
        &self,
        machine: &M,
        pairs: impl Iterator<Item = (u64, u64)> + Clone,
        place: u64,
    ) -> Option<u64> {
        self.maker.repoint(machine, pairs, place)
    }
}
