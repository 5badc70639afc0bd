//! Instances that come while the system runs, and any that go for good.
//!
//! One that goes dies first, as any other, and does not live again: behind its death one manager after the other forgets it, the
//! memory manager last, which empties what the record says of it. Until then its number is nobody else's.
//!
//! One that was made and has not begun is its loader's: that thread goes from manager to manager with it, and what one of them forgets
//! before it comes there would be made anew behind its back. So its parent's death waits until the loader has it begin, which is refused
//! then, or takes it back: what was only prepared ends when no thread is in its parent, or came from there, any more. If the loader
//! dies, what it had made ends when no thread is in that any more.

use crate::component as imports;
use crate::reason::Reason;
use crate::system::{INSTANCES, System, state};
use crate::tell;
use cairn::in_place::content;
use cairn::time::{now, ticks};
use cairn::{Error, InstanceId, environment, privileged};
use cairn_abi::record::Instance;
use cairn_supervisor::instances::Phase;
use core::sync::atomic::Ordering::Relaxed;

/// Between two looks whether what is in the way is gone.
const LOOK_MICROSECONDS: u64 = 100;

impl System {
    /// An instance that was made, and was never begun, lives from now on.
    pub fn begin_first(&self, instance: InstanceId) -> Result<(), Error> {
        let record = self.made(instance)?;
        if state(instance).is_present() {
            return Err(Error::Busy);
        }
        let parent = self.instance(record.parent).ok_or(Error::NotAllowed)?;
        if !state(parent.leader).is_alive() || state(parent.leader).retires.load(Relaxed) {
            return Err(Error::Dead);
        }
        let Instance { threads, semaphores, locks, priority, .. } = *record;
        let (parent, priority) = (parent.number, priority as u8);
        imports::CONTROL.add_domain(instance, parent, threads, semaphores, locks, priority)?;
        INSTANCES.add_domain(instance)?;
        INSTANCES.enter(instance, Phase::Asleep);
        privileged::set_alive(record.domain, true)?;
        match record.on_demand {
            0 if !self.start(record, Ok(())) => Err(Error::NotSupported),
            _ => Ok(()),
        }
    }

    /// An instance ends for good, whether it has begun or not.
    pub fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        let record = self.made(instance)?;
        let own = environment::startup().instance;
        if record.essential != 0 || record.run_to_completion != 0 || instance == own {
            return Err(Error::NotAllowed);
        }
        // All that live in one domain end together. What one has in its other place nobody would take back, nor what others have that move there.
        let leader = self.made(record.leader)?;
        let can_be_silent = self.fellows(leader).all(|fellow| self.can_silence(fellow.number));
        let moves = |one: &Instance| one.other_place != InstanceId(0) || one.has_guests != 0;
        let any_moves = self.fellows(leader).any(moves);
        if any_moves || !can_be_silent || imports::DOMAIN_MEMORY.get().is_none() {
            return Err(Error::NotSupported);
        }
        match self.user_of(leader) {
            Err(Error::NotFound) => {}
            Ok(_) => return Err(Error::Busy),
            Err(error) => return Err(error),
        }
        self.end_for_good(leader)
    }

    /// An instance that is connected to one of a domain, whose leader this is, and lives or will; what those have loaded ends with them, and does not count, nor
    /// do they themselves.
    pub fn user_of(&self, leader: &'static Instance) -> Result<&'static Instance, Error> {
        let mut users = self.fellows(leader).map(|one| self.user_of_one(one.number, leader));
        let is_none =
            |user: &Result<_, Error>| matches!(user, Err(Error::NotFound | Error::BadArgument));
        users.find(|user| !is_none(user)).unwrap_or(Err(Error::NotFound))
    }

    /// The same of one of them.
    fn user_of_one(
        &self,
        instance: InstanceId,
        leader: &'static Instance,
    ) -> Result<&'static Instance, Error> {
        let portals = imports::DOMAIN_PORTALS.get().ok_or(Error::NotSupported)?;
        let mut from = InstanceId(1);
        loop {
            let user = self.in_portals(|| portals.user_of(instance, from))?;
            from = InstanceId(user.0 + 1);
            let Ok(user) = self.made(user) else { continue };
            let state = state(user.leader);
            let is_over = matches!(state.phase(), Phase::Absent | Phase::Retiring)
                || state.retires.load(Relaxed)
                || state.phase() == Phase::Dead && state.due.load(Relaxed) == u64::MAX;
            let mut fellows = self.fellows(leader).map(|fellow| fellow.number);
            let ends_with = |from| user.number == from || self.descends(user, from);
            if !is_over && !fellows.any(ends_with) {
                return Ok(user);
            }
        }
    }

    /// Whether an instance was loaded by another, or by one that this had loaded, and so on.
    pub fn descends(&self, record: &'static Instance, from: InstanceId) -> bool {
        let parent = |one: &&'static Instance| self.instance(one.parent);
        core::iter::successors(Some(record), parent).skip(1).any(|one| one.number == from)
    }

    /// No next life: an instance that lives dies now, and retires when it is dead.
    fn end_for_good(&self, record: &'static Instance) -> Result<(), Error> {
        let state = state(record.number);
        self.forget_trial(record.number);
        if !state.is_present() {
            // The memory manager knows it only once it is whole.
            let _ = self.unmap(record);
        }
        if state.is_alive() {
            self.die(record.number, Reason::Retires);
        } else if INSTANCES.retire(record.number) == Ok(()) {
            state.look.store(0, Relaxed);
        } else if state.phase() == Phase::Quarantined {
            return Err(Error::Busy);
        }
        state.due.store(u64::MAX, Relaxed);
        state.retires.store(true, Relaxed);
        state.wanted.fetch_max(self.recovery_priority(record.number), Relaxed);
        Ok(())
    }

    /// Ends a child of an instance that dies; whether there was one. One that has not begun is its loader's.
    pub fn end_next_child(&self, parent: InstanceId) -> bool {
        let mut children = self.children(parent);
        let ends = |child: &&Instance| {
            let state = state(child.number);
            state.is_present() && !state.retires.load(Relaxed)
        };
        children.find(ends).is_some_and(|child| self.end_one(child))
    }

    fn end_one(&self, record: &'static Instance) -> bool {
        let ended = self.end_for_good(record);
        self.expect("end", record, ended);
        ended.is_ok()
    }

    /// No thread is in an instance that died, or came from there: nobody has what was made for it begin any more, or, if it is a loader,
    /// what it had made. The next of that ends; whether there was one.
    pub fn end_next_made_for(&self, dead: InstanceId) -> bool {
        let loadable = self.header.loadable;
        let is_left = |record: &&Instance| !state(record.number).is_present();
        if loadable.start == loadable.end || !self.made_only().any(|record| is_left(&record)) {
            return false;
        }
        let is_loader = self.makes_instances(dead);
        // A successor is the loader's until what it is for is done, whoever asked for that.
        let is_prepared = |one: &Instance| one.parent == dead && one.successor_of == InstanceId(0);
        let ends = |one: &&Instance| is_left(one) && (is_loader || is_prepared(one));
        self.made_only().find(ends).is_some_and(|record| self.end_one(record))
    }

    /// Whether one of a domain that is dead, whose leader this is, still has children, which have their quotas from it.
    pub fn has_children(&self, leader: &'static Instance) -> bool {
        let wanted = state(leader.number).wanted.load(Relaxed);
        let mut has_any = false;
        for child in self.fellows(leader).flat_map(|parent| self.children(parent.number)) {
            state(child.number).wanted.fetch_max(wanted, Relaxed);
            has_any = true;
        }
        has_any
    }

    /// Whether there is who resets the devices of an instance that reach memory, and who masks its interrupts.
    fn can_silence(&self, instance: InstanceId) -> bool {
        let has_devices = self.devices.iter().any(|device| device.instance == instance);
        let has_interrupts = self.interrupts_of(instance).next().is_some();
        (!has_devices || imports::DEVICES.get().is_some())
            && (!has_interrupts || imports::INTERRUPTS.get().is_some())
    }

    /// No device signals an instance any more, and the semaphores on which it waited are another's. May be done again.
    fn retire_interrupts(&self, instance: InstanceId) -> Result<(), Error> {
        for interrupt in self.interrupts_of(instance) {
            imports::INTERRUPTS.get().ok_or(Error::NotSupported)?.retire(interrupt.source)?;
            match imports::CONTROL.remove_device(instance, interrupt.semaphore) {
                // It was free already.
                Ok(()) | Err(Error::NotAllowed | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// One step of forgetting a domain that is dead for good, whose leader this is. Each of those that end together is forgotten by one
    /// manager before the next one begins: as long as a thread may come to one of them all of them are as they were for the rest.
    pub fn retire_some(&self, leader: &'static Instance) {
        let state = state(leader.number);
        if self.fellows(leader).any(|parent| self.end_next_child(parent.number)) {
            return;
        }
        // What is to be told of it has its name.
        if self.has_children(leader) || tell::is_of(leader.number) || is_this_content(leader) {
            return state.look.store(now() + ticks(LOOK_MICROSECONDS), Relaxed);
        }
        let (Some(portals), Some(memory)) =
            (imports::DOMAIN_PORTALS.get(), imports::DOMAIN_MEMORY.get())
        else {
            return;
        };
        let at = state.cursor.load(Relaxed);
        let fellow = InstanceId(state.at.load(Relaxed));
        let Some(record) = self.instance(fellow) else { return };
        let (first, parent) = (leader.number, record.parent);
        // What is next: for the same one, or `None`, for the next of them.
        let step = match at {
            AT_INTERRUPTS => self.retire_interrupts(fellow).map(|()| None),
            AT_SCHEDULER => imports::CONTROL.retire_domain(fellow, parent).map(|()| None),
            AT_MEMORY => {
                // The others have their page tables in the leader's.
                let goes = if leader.next_fellow.0 == 0 { first } else { leader.next_fellow };
                return match memory.retire(goes) {
                    // Whoever waits for it sees this.
                    Ok(()) => drop(INSTANCES.retire_domain(goes, first)),
                    Err(error) => self.look_again(leader, error),
                };
            }
            from => match self.in_portals(|| portals.retire_domain(fellow, from)) {
                // The loader had not come so far.
                Ok(0) | Err(Error::BadArgument) => Ok(None),
                next => next.map(Some),
            },
        };
        let again = if at < AT_INTERRUPTS { 0 } else { at };
        let (next, cursor) = match (step, record.next_fellow) {
            (Ok(Some(next)), _) => (fellow, next),
            (Ok(None), InstanceId(0)) => (first, at.max(AT_INTERRUPTS - 1) + 1),
            (Ok(None), next) => (next, again),
            (Err(error), _) => return self.look_again(leader, error),
        };
        state.at.store(next.0, Relaxed);
        state.cursor.store(cursor, Relaxed);
    }

    /// A thread that came since its death is sent away first, and has the time to leave.
    fn look_again(&self, leader: &Instance, error: Error) {
        INSTANCES.enter(leader.number, Phase::Sweeping);
        state(leader.number).look.store(now() + ticks(LOOK_MICROSECONDS), Relaxed);
        if error != Error::Busy {
            self.expect("retire", leader, Err(error));
        }
    }
}

/// Whether an instance that is made has the content in which this thread is still, beside what its own instance has by now.
fn is_this_content(record: &Instance) -> bool {
    record.successor_of == environment::startup().instance && content::is_former()
}

/// The turn of the interrupt dispatcher and the scheduler to forget the interrupts of an instance, then the scheduler's to forget the rest, then the memory
/// manager's. Before, the cursor is the portal manager's.
const AT_INTERRUPTS: u64 = u64::MAX - 2;
const AT_SCHEDULER: u64 = u64::MAX - 1;
const AT_MEMORY: u64 = u64::MAX;
