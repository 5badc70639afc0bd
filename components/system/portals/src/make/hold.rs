//! Calls to an instance that wait while it is exchanged, and its portals, which lead into the new content afterwards.
//! How that ends is in [`release`].
//!
//! A held portal stays where it is. It takes its stacks from a queue that never has any ([`HELD_QUEUE`]), so that its callers wait in
//! the scheduler, by priority, with nothing changed, and call again when they go on. The queue to which it gives them back is in its
//! return portal: there stands what it is to have again, and nothing has to be remembered of a portal that is held. So
//! each step looks at what there is then, whatever else became of clients, blocks and wraps since the step before, and one that is
//! taken twice does no harm.
//!
//! Only literals are written. They are data, loaded by each call anew: no instruction fence is needed.

mod between;
mod faults;
mod release;

use self::between::Entrance;
use super::Maker;
use super::leads::{Lead, PLACES_OF_STEP};
use super::places::can_move;
use super::wrap::literal;
use crate::blocks::{Kind, NO_INSTANCE};
use crate::crossing::write;
use crate::machine::Machine;
use cairn_abi::domain::{HELD_QUEUE, stack_queue};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::{Export, Instance};
use cairn_abi::{DomainId, Error, InstanceId};
use cairn_portal::generate::place;
use cairn_portal::literal::*;

/// How far a hold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is being found out whether each call can wait.
    Asking,
    /// Whatever is made is held, and what there was before is as far as the place.
    Holding,
    /// All are held.
    On,
    /// The same, and its holder is dead: they are led where the record says, as far as the place.
    Leading,
    /// What is made is held no more, nor what there was before, as far as the place.
    Releasing,
}

/// What an instance is held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Its next life has another content.
    Successor,
    /// Its content is exchanged while it lives.
    InPlace,
    /// Its next life is in its other place.
    Move,
}

/// The one hold.
pub(super) struct Hold {
    /// Who is held; [`NO_INSTANCE`]: nobody.
    held: InstanceId,
    /// Its domain, if others are in that, and end with it.
    shared: Option<DomainId>,
    /// The first and the last export that is its, or a fellow's.
    exports: (u32, u32),
    /// The life that ends for it leaves what others have of it to the next. One that dies of something else leaves nothing.
    leaves: bool,
    /// Whose calls to it go on.
    holder: InstanceId,
    phase: Phase,
    purpose: Purpose,
    /// Portals that were held lead into other content than at first: who did not wait may be in that still.
    changed: bool,
    /// Of the walk.
    place: usize,
    /// Where who is held is entered as an interposer.
    entrance: Entrance,
    /// Instances whose last life left what others have of it to the next.
    successors: [bool; INSTANCES_MAXIMUM],
}

impl Hold {
    /// Nobody is held.
    pub const NONE: Hold = Hold {
        held: NO_INSTANCE,
        shared: None,
        exports: (u32::MAX, 0),
        leaves: false,
        holder: NO_INSTANCE,
        phase: Phase::Asking,
        purpose: Purpose::Successor,
        changed: false,
        place: 0,
        entrance: Entrance::AsBefore,
        successors: [false; INSTANCES_MAXIMUM],
    };

    /// Whether content is exchanged while its instance lives.
    fn in_place(&self) -> bool {
        self.purpose == Purpose::InPlace
    }
}

impl Maker {
    /// Who is held: of those in one domain the one whose content, or place, is exchanged.
    pub fn held(&self) -> Option<InstanceId> {
        Some(self.hold.held).filter(|held| *held != NO_INSTANCE)
    }

    /// Whether this is the holder of an instance.
    pub fn is_held_by(&self, holder: InstanceId, held: InstanceId) -> bool {
        self.held() == Some(held) && self.hold.holder == holder
    }

    /// Whether an instance is held, or is in the domain of who is.
    #[inline(always)]
    pub fn is_held(&self, instance: InstanceId) -> bool {
        let is_in = |domain| self.instances.is_in(instance, domain);
        instance == self.hold.held || self.hold.shared.is_some_and(is_in)
    }

    /// Whether an export of the layout can be one of who is held or of a fellow. If it can, it has to be looked at.
    #[inline(always)]
    pub(super) fn can_be_held(&self, export: u32) -> bool {
        let (first, last) = self.hold.exports;
        (first..=last).contains(&export)
    }

    /// Whether others are in the domain of who is held.
    pub(super) fn is_shared(&self) -> bool {
        self.hold.shared.is_some()
    }

    /// Nobody is held any more.
    fn let_go(&mut self) {
        (self.hold.held, self.hold.shared) = (NO_INSTANCE, None);
    }

    /// Whether the portals that a client gets to a server are held from the beginning.
    #[inline(always)]
    pub(super) fn holds(&self, client: InstanceId, server: InstanceId) -> bool {
        self.is_held(server)
            && matches!(self.hold.phase, Phase::Holding | Phase::On | Phase::Leading)
            && self.can_wait(client)
    }

    /// The instance with this number, if calls of a client get to it: it lives, or they wait for its next life, which has what others have of the
    /// one before.
    pub(super) fn callable<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        server: InstanceId,
    ) -> Result<&'static Instance, Error> {
        match self.living(machine, server) {
            Err(Error::Dead) if self.hold.leaves && self.holds(client, server) => {
                self.instances.get(server)
            }
            living => living,
        }
    }

    /// The same for what a portal of this kind leads to: what a life registered ends with it.
    pub(super) fn callable_for<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        (kind, server): (Kind, InstanceId),
    ) -> Result<&'static Instance, Error> {
        match kind {
            Kind::Export(_) | Kind::Object(..) => self.callable(machine, client, server),
            _ => self.living(machine, server),
        }
    }

    /// Holds portals of a client, or on its behalf, that were made for a wrap and are in no table yet, if they lead to who is held.
    #[inline(never)]
    pub(super) fn hold_made<M: Machine>(&self, machine: &M, client: InstanceId, calls: &[u64]) {
        let Ok(held) = self.instances.get(self.hold.held) else { return };
        if self.holds(client, held.number) {
            let led = calls.iter().filter(|code| callee(machine, **code) == held.domain);
            led.for_each(|code| set(machine, *code, LITERAL_QUEUE, stack_queue(HELD_QUEUE)));
        }
    }

    /// The holder's calls do not wait, nor those inside the domain that is held. Nor, if no life ends, those without which the holder's own death would not be
    /// served.
    fn can_wait(&self, client: InstanceId) -> bool {
        let Hold { holder, purpose, .. } = self.hold;
        let in_place = purpose == Purpose::InPlace;
        let is_essential = || self.instances.get(client).is_ok_and(|record| record.essential != 0);
        client != holder && !self.is_held(client) && !(in_place && is_essential())
    }

    /// Whether an instance is held for a move.
    pub(super) fn is_moving(&self, instance: InstanceId) -> bool {
        self.held() == Some(instance) && self.hold.purpose == Purpose::Move
    }

    /// Begins to hold an instance, in [steps](Maker::hold_step).
    pub fn begin_hold<M: Machine>(
        &mut self,
        machine: &M,
        holder: InstanceId,
        held: InstanceId,
        purpose: Purpose,
    ) -> Result<(), Error> {
        let record = self.living(machine, held)?;
        let (in_place, moves) = (purpose == Purpose::InPlace, purpose == Purpose::Move);
        // Who ends could not release itself.
        if self.instances.is_in(holder, record.domain) && !in_place {
            return Err(Error::BadArgument);
        }
        let layout = machine.layout();
        let is_alone = self.instances.is_alone(record);
        if record.run_to_completion != 0
            || ((record.in_kernel != 0 || record.is_away != 0) && !moves)
            || (moves && !can_move(layout, record))
            || (!is_alone && purpose != Purpose::Successor)
            || !self
                .instances
                .in_domain(record.domain)
                .all(|one| self.can_leave(machine, (one.number, is_alone), holder, purpose))
        {
            return Err(Error::NotSupported);
        }
        if moves {
            self.check_unwrapped(machine, held)?;
        }
        if self.drops_import(machine, held) {
            return Err(Error::VersionMismatch);
        }
        // Who waited for the one held before, and has not gone on yet, would wait for this one.
        let is_left = self.is_left_held(held);
        if !is_left && (self.held().is_some() || machine.stack_waiters(HELD_QUEUE as u16)? != 0) {
            return Err(Error::Busy);
        }
        let successors = self.hold.successors;
        let (entrance, phase) = match is_left {
            true => (self.hold.entrance, Phase::Holding),
            false => (Entrance::AsBefore, Phase::Asking),
        };
        let shared = Some(record.domain).filter(|_| !is_alone);
        let mut exports = Hold::NONE.exports;
        for (number, export) in (0..).zip(layout.exports) {
            if self.instances.is_in(export.instance, record.domain) {
                exports = (exports.0.min(number), number);
            }
        }
        let hold = Hold {
            held,
            shared,
            exports,
            leaves: !in_place,
            holder,
            phase,
            purpose,
            entrance,
            successors,
            ..Hold::NONE
        };
        self.hold = hold;
        Ok(())
    }

    /// Whether all calls to an instance can wait. Of several that end together none provides others with pages or stands between them: who is
    /// exchanged for what others know is asked where it stands, and one is asked.
    fn can_leave<M: Machine>(
        &self,
        machine: &M,
        (instance, is_alone): (InstanceId, bool),
        holder: InstanceId,
        purpose: Purpose,
    ) -> bool {
        let is_successor = purpose == Purpose::Successor;
        let layout = machine.layout();
        let mut own = layout.portals_of(self.own).iter();
        let serves_here = own.any(|portal| {
            let export = layout.exports.get(portal.export as usize);
            export.is_some_and(|export| export.instance == instance)
        });
        (purpose == Purpose::InPlace || !(instance == self.own || serves_here))
            && self.can_leave_faults(machine, instance, holder, is_successor && is_alone)
            && self.can_leave_between(instance, holder)
            && (is_successor && is_alone || !self.is_interposer(instance))
    }

    /// A step of holding; whether it was the last. `Dead`: its holder has died meanwhile, or released it.
    pub fn hold_step<M: Machine>(
        &mut self,
        machine: &M,
        holder: InstanceId,
        held: InstanceId,
    ) -> Result<bool, Error> {
        if !self.is_held_by(holder, held) {
            return Err(Error::Dead);
        }
        match self.hold.phase {
            Phase::On => return Ok(true),
            Phase::Leading | Phase::Releasing => return Err(Error::Dead),
            Phase::Asking | Phase::Holding => {}
        }
        let asks = self.hold.phase == Phase::Asking;
        let mut takes_none = false;
        let next = self.walk(machine, self.hold.place, |lead| match asks {
            _ if !self.can_wait(lead.client) => {}
            true => takes_none |= own_queue(machine, lead.code) == 0,
            false => {
                set(machine, lead.code, LITERAL_QUEUE, stack_queue(HELD_QUEUE));
                // In the kernel domain nothing is waited for, so whoever waits does where it begins.
                self.show(machine, lead, false);
            }
        });
        if takes_none {
            self.let_go();
            return Err(Error::NotSupported);
        }
        let hold = &mut self.hold;
        (hold.place, hold.phase) = match next {
            Some(next) => (next, hold.phase),
            None if asks => (0, Phase::Holding),
            None => (0, Phase::On),
        };
        Ok(hold.phase == Phase::On)
    }

    /// Lets the portals to an instance, some from `place` on, enter it where the record says; where the next step begins, if there
    /// is one. `Busy`: a thread is inside.
    pub fn relink<M: Machine>(
        &mut self,
        machine: &M,
        held: InstanceId,
        at: usize,
    ) -> Result<Option<usize>, Error> {
        let record = self.instances.get(held)?;
        if self.held() != Some(held) || self.hold.phase != Phase::On {
            return Err(Error::NotAllowed);
        }
        if self.hold.purpose != Purpose::InPlace && !self.is_quiet(machine, held, NO_INSTANCE) {
            return Err(Error::Busy);
        }
        self.hold.changed = true;
        let next = self.walk(machine, at, |lead| {
            if lead.server != held {
                return;
            }
            lead_into(machine, lead, record);
            if !self.can_wait(lead.client) {
                self.show(machine, lead, record.is_away != 0);
            }
        });
        self.hold.entrance = Entrance::Unknown;
        Ok(next)
    }

    /// The portals of a client from the index `first` on, which lead to an export, enter the content of a successor that is joined to its
    /// instance, or what the record says of that itself.
    pub fn lead_client<M: Machine>(
        &self,
        machine: &M,
        client: InstanceId,
        first: u64,
        to: InstanceId,
    ) -> Result<(), Error> {
        let (layout, block) = (machine.layout(), self.blocks.get(self.blocks.at(client, first)?));
        let record = layout.instance(to)?;
        let server = block.server;
        let Kind::Export(number) = block.kind else { return Err(Error::BadArgument) };
        let export = layout.export(number as usize)?;
        if to != server && record.successor_of != server {
            return Err(Error::BadArgument);
        }
        let is_it = |other: &&Export| {
            (other.instance, other.is_object) == (to, 0)
                && (other.name, other.version) == (export.name, export.version)
        };
        let other = layout.exports.iter().find(is_it).ok_or(Error::VersionMismatch)?;
        let methods = layout.methods_of(other);
        for (lead, method) in self.leads_of_block(machine, server, block).zip(methods) {
            lead_into(machine, &Lead { entry: Some(method.entry), ..lead }, record);
        }
        Ok(())
    }

    /// Whether no thread is in a call to a server, but for those of one client, and those that end with it: a thread of another client's that came to it by
    /// one of these is in a call to that as well.
    pub fn is_quiet<M: Machine>(&self, machine: &M, server: InstanceId, but: InstanceId) -> bool {
        let is_fellow = |client| client != server && self.is_held(server) && self.is_held(client);
        self.pools.is_quiet(machine, server, |client| client == but || is_fellow(client))
    }

    /// A step of the end of a life that has a successor, which looks at some blocks from the place `from` on; the next place.
    /// `most`: how many it ends. None: it was the last.
    pub fn leave_step<M: Machine>(
        &mut self,
        machine: &M,
        instance: InstanceId,
        from: usize,
        most: usize,
    ) -> Option<usize> {
        let mut left = most;
        let end = self.blocks.end_of_used().min(from.saturating_add(PLACES_OF_STEP));
        for place in from..end {
            let block = self.blocks.get(place);
            let is_its = block.client == instance && !block.is_import;
            let ends = block.is_live() && block.owner == instance && !block.is_object();
            if !is_its && !ends {
                continue;
            }
            while is_its && left > 0 && self.revoke_from(machine, place, 1) > 0 {
                left -= 1;
            }
            if left == 0 {
                return Some(place);
            }
            match is_its {
                true => self.close(machine, place),
                false => self.end(machine, place),
            }
            left -= 1;
        }
        if end < self.blocks.end_of_used() {
            return Some(end);
        }
        while self.withdraw_from(machine, instance) {
            left = left.saturating_sub(1);
            if left == 0 {
                return Some(end);
            }
        }
        self.set_succeeded(instance, true);
        None
    }

    /// Whether what others have of an instance is left to its next life.
    pub(super) fn is_succeeded(&self, instance: InstanceId) -> bool {
        self.hold.successors.get(instance.index()) == Some(&true)
    }

    /// A life ends, and leaves nothing.
    pub(super) fn leaves_nothing(&mut self, instance: InstanceId) {
        self.set_succeeded(instance, false);
        if self.is_held(instance) {
            self.hold.leaves = false;
        }
    }

    /// See [`Maker::is_succeeded`].
    pub fn set_succeeded(&mut self, instance: InstanceId, is: bool) {
        if let Some(successor) = self.hold.successors.get_mut(instance.index()) {
            *successor = is;
        }
    }
}

/// Lets a portal enter the content of which the record says this.
fn lead_into<M: Machine>(machine: &M, lead: &Lead, record: &Instance) {
    let code = lead.code_for(record);
    if let Some(entry) = lead.entry {
        set(machine, code, LITERAL_ENTRY, entry);
    }
    set(machine, code, LITERAL_STUB, record.stub);
}

/// The queue to which a call portal's return portal gives back what it took; zero: it takes nothing.
fn own_queue<M: Machine>(machine: &M, code: u64) -> u64 {
    literal(machine, literal(machine, code, LITERAL_RETURN), LITERAL_QUEUE)
}

/// The domain that a call portal enters.
pub(super) fn callee<M: Machine>(machine: &M, code: u64) -> DomainId {
    let back = literal(machine, code, LITERAL_RETURN);
    CallFrame::of_word(literal(machine, back, LITERAL_FRAME)).callee
}

/// Writes a literal.
fn set<M: Machine>(machine: &M, code: u64, literal: i64, word: u64) {
    let literals = machine.code(code - LITERALS_SIZE as u64, LITERALS_SIZE as usize);
    write(literals.get(place(literal)..).unwrap_or(&[]), &[word]);
}
