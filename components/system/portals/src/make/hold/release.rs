//! The end of a hold: who waited goes on.
//!
//! If the holder dies while content is exchanged in place, all portals lead where the record says from then on. But where that has changed already, threads that did not wait
//! may be in the former content, which goes next. So all others wait until these have left, and the former content as well: it is its end that has the hold end then.

use super::super::Maker;
use super::between::Entrance;
use super::{Phase, lead_into, literal, own_queue, set};
use crate::blocks::NO_INSTANCE;
use crate::machine::Machine;
use cairn_abi::domain::HELD_QUEUE;
use cairn_abi::{Error, InstanceId};
use cairn_portal::literal::{LITERAL_ENTRY, LITERAL_QUEUE, LITERAL_STUB};

impl Maker {
    /// A step of releasing who is held; whether it was the last: then who waited goes on, unless it has yet to register an `entrance`. What it
    /// serves no more leads nowhere then.
    pub fn release_step<M: Machine>(
        &mut self,
        machine: &M,
        entrance: Option<u64>,
    ) -> Result<bool, Error> {
        let Some(held) = self.held() else { return Ok(true) };
        if self.hold.phase != Phase::Releasing {
            if !self.can_go_on(held, entrance) {
                return Ok(true);
            }
            if self.end_dropped(machine, held) {
                return Ok(false);
            }
            (self.hold.phase, self.hold.place) = (Phase::Releasing, 0);
        }
        // Its holder may have died before it could have it done, and what was opened between two lives leads where the record said then.
        let record = self.instances.get(held).ok();
        let next = self.walk(machine, self.hold.place, |lead| {
            if let Some(record) = record.filter(|record| record.number == lead.server) {
                lead_into(machine, lead, record);
                // First: where it is not, nobody may come in.
                self.show(machine, lead, record.is_away != 0);
            }
            set(machine, lead.code, LITERAL_QUEUE, own_queue(machine, lead.code));
        });
        match next {
            Some(next) => self.hold.place = next,
            None => {
                machine.look_at_stacks(HELD_QUEUE as u16)?;
                self.let_go();
            }
        }
        Ok(next.is_none())
    }

    /// The same, if the holder is an instance that is dead; whether there was something to do.
    pub fn release_held_by<M: Machine>(
        &mut self,
        machine: &M,
        dead: InstanceId,
        entrance: Option<u64>,
    ) -> bool {
        let Some(held) = self.held().filter(|_| self.hold.holder == dead) else { return false };
        if self.hold.in_place() && matches!(self.hold.phase, Phase::On | Phase::Leading) {
            if self.lead_step(machine, held) {
                return true;
            }
            // The dead one's own threads come home before anything that it made goes.
            if self.hold.changed && !self.is_quiet(machine, held, dead) {
                self.hold.holder = NO_INSTANCE;
                return true;
            }
        }
        self.release_step(machine, entrance).is_ok()
    }

    /// A step of leading all portals where the record says; whether there are more.
    fn lead_step<M: Machine>(&mut self, machine: &M, held: InstanceId) -> bool {
        let Ok(record) = self.instances.get(held) else { return false };
        if self.hold.phase != Phase::Leading {
            (self.hold.phase, self.hold.place) = (Phase::Leading, 0);
        }
        let (mut changed, holder) = (self.hold.changed, self.hold.holder);
        let next = self.walk(machine, self.hold.place, |lead| {
            let leads = |which, to| literal(machine, lead.code, which) == to;
            let is_led = leads(LITERAL_STUB, record.stub)
                && lead.entry.is_none_or(|entry| leads(LITERAL_ENTRY, entry));
            // The holder was led elsewhere before anything had changed.
            changed |= lead.client != holder && !is_led;
            lead_into(machine, lead, record);
        });
        self.hold.changed = changed;
        self.hold.place = next.unwrap_or(self.hold.place);
        next.is_some()
    }

    /// A step of the same, before the content goes that has this number, the former one of who is held by nobody any more; whether there was one. `Busy`: somebody may be in it
    /// still.
    pub fn release_left<M: Machine>(
        &mut self,
        machine: &M,
        number: InstanceId,
        entrance: Option<u64>,
    ) -> Result<bool, Error> {
        let is_left = self.hold.in_place() && self.hold.holder == NO_INSTANCE;
        let Some(held) = self.held().filter(|_| is_left) else { return Ok(false) };
        if machine.layout().instance(number).map(|one| one.successor_of) != Ok(held) {
            return Ok(false);
        }
        // The call that asks is in this manager.
        let asks = usize::from(held == self.own);
        if self.hold.phase != Phase::Releasing && self.pools.inside(machine, held) > asks {
            return Err(Error::Busy);
        }
        self.release_step(machine, entrance).map(|_| true)
    }

    /// The same, if it is an instance that is gone for good which is held, or one in its domain.
    pub fn release_gone<M: Machine>(&mut self, machine: &M, gone: InstanceId) -> bool {
        if !self.is_held(gone) {
            return false;
        }
        self.hold.entrance = Entrance::AsBefore;
        self.release_step(machine, None).is_ok()
    }
}
