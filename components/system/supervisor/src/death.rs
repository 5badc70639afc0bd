//! The death of an instance, and its new life (`docs/architecture.md`, "Death").
//!
//! The thread that faulted stands still already. What has to be done at once, so that no thread executes anything in
//! the domain any more, is done at the priority of that thread ([`System::die`]). All else are steps of bounded length
//! ([`System::step`]): more urgent threads run between any two instructions of them, and between any two steps the
//! worker takes up the calls that came for it. The threads that are in the domain are sent away at the priority of the
//! instance. What comes then has the priority of the thread that let it die or of the most urgent caller since, but at
//! most that of the instance: a client that lets a server die takes no more time from others than is its own.

use crate::component as imports;
use crate::look::Undisturbed;
use crate::ready::Asks;
use crate::reason::Reason;
use crate::replacing;
use crate::system::{INSTANCES, STANDING, System, state};
use cairn::time::{now, ticks};
use cairn::{Error, InstanceId, privileged};
use cairn_abi::arch::trap;
use cairn_abi::record::{FLOAT_PROCESSES, Instance, RESTART_ALWAYS, RESTART_NEVER};
use cairn_abi::thread::index_of_name;
use cairn_abi::upcall::Fault;
use cairn_interfaces::ThreadFault;
use cairn_supervisor::backoff;
use cairn_supervisor::instances::{InstanceState, Phase};
use cairn_supervisor::stack::Kind;
use cairn_supervisor::standing::Until;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// After a death, how long until the invocation stacks are looked at again; doubles.
const LOOK_FIRST_MICROSECONDS: u64 = 1;
const LOOK_MAXIMUM_MICROSECONDS: u64 = 20_000;
/// How long between two attempts to reset a device that does not confirm it, and how many there are.
const RESET_MICROSECONDS: u64 = 10_000;
const RESETS: u64 = 100;
/// Threads that one step looks at.
const THREADS_OF_STEP: usize = 6;
const THREADS_OF_SWEEP: usize = 16;
/// Steps of the scheduler's in one of these.
const RECLAIMS_OF_STEP: usize = 8;

/// No time until its next life: the loader decides what comes.
pub const ON_TRIAL: u64 = u64::MAX;

impl System {
    /// A thread faulted: mends it, or lets its instance die.
    pub fn fault(&self, fault: ThreadFault) {
        let ThreadFault { thread, cause, value, time } = fault;
        let index = index_of_name(thread);
        let Some(frame) = self.frames(index).next().filter(|frame| frame.kind == Kind::Trap) else {
            return;
        };
        let fault = trap::fault(cause, value);
        let is_page_fault = matches!(fault, Fault::Denied(..));
        let domain = frame.into;
        let instance = self.lives_in(domain);
        if is_page_fault && !frame.dead && self.wakes(instance) {
            // It executes its instruction again.
        } else if is_page_fault && !frame.dead && self.comes_too_early(index, instance) {
            self.want(instance, thread);
            self.stand(Until::Lives, index, instance);
            return;
        } else if let Some((record, asks)) = self.asks(frame, fault)
            && !frame.dead
            && state(instance).is_alive()
        {
            match asks {
                Asks::Ready => self.serves(record),
                Asks::Query if self.await_ready(index, record) => return,
                Asks::Query => {}
            }
        } else if frame.dead || !state(instance).is_alive() {
            // A thread that enters a dead instance faults at its first instruction: an error return.
            self.want(instance, thread);
        } else if self.came_home(thread, frame, fault) {
            // It goes on in its caller.
        } else if is_page_fault && is_mapped_since(instance, time) {
            // It came when the instance was about to live again or was tried, or with another one that started it, and now it
            // lives. What it brings is whole: of those that came earlier, none was left before this life began.
        } else if is_page_fault && imports::MEMORY.page_fault(domain, value, cause).is_ok() {
            // Mended.
        } else {
            let frame = frame.header;
            self.die(instance, Reason::Fault { thread: index, frame, fault, value });
        }
        if !state(instance).is_alive() {
            self.unwind(domain, index);
        }
        let _ = imports::CONTROL.resume(thread);
    }

    /// The highest priority of what is done for an instance that is not alive.
    pub fn recovery_priority(&self, instance: InstanceId) -> u8 {
        self.instance(instance).map_or(0, |record| record.recovery_priority as u8)
    }

    /// A thread wants the next life of an instance.
    fn want(&self, instance: InstanceId, thread: u64) {
        let priority =
            imports::SCHEDULING.thread(index_of_name(thread)).map_or(0, |thread| thread.priority);
        let most = self.recovery_priority(instance);
        state(instance).wanted.fetch_max(priority.min(most), Relaxed);
    }

    /// The first thread of an instance has ended. Others may be alive, and it may serve calls: that is an end only
    /// for those that shall always run.
    pub fn returned(&self, instance: InstanceId) {
        let wanted = |record: &&Instance| record.restart == RESTART_ALWAYS && record.essential == 0;
        let record = self.instance(instance);
        if let Some(record) = record {
            // Who has nothing to do any more has nothing to prepare.
            self.serves(record);
        }
        let Some(record) = record.filter(wanted) else { return };
        if state(record.leader).is_alive() {
            self.die(record.leader, Reason::Returned);
        }
    }

    /// An instance dies, a leader with its fellows: from here on no thread executes anything in it.
    pub fn die(&self, instance: InstanceId, reason: Reason) {
        let Some(record) = self.instance(instance) else { return };
        let state = state(instance);
        let now = now();
        self.end(record, now);
        let behaved = now.saturating_sub(state.started.load(Relaxed))
            >= ticks(backoff::GOOD_BEHAVIOUR_MILLISECONDS * 1000);
        if behaved {
            state.faults.store(0, Relaxed);
        }
        let delay = match reason {
            Reason::Idle | Reason::Replaced => Some(0),
            Reason::Retires => None,
            _ if self.is_on_trial(instance) => Some(ON_TRIAL),
            Reason::Asked { restart } => (restart || record.restart == RESTART_ALWAYS).then_some(0),
            _ if record.restart == RESTART_NEVER => None,
            Reason::Fault { .. }
            | Reason::RanAway { .. }
            | Reason::Kept { .. }
            | Reason::Returned => Some(next_delay(state)),
        };
        let due = delay.filter(|delay| *delay != ON_TRIAL);
        state.due.store(due.map_or(u64::MAX, |delay| now + ticks(delay * 1000)), Relaxed);
        match reason.thread() {
            Some(thread) => {
                state.wanted.store(0, Relaxed);
                self.want(instance, thread);
            }
            None => state.wanted.store(self.recovery_priority(instance), Relaxed),
        }
        let is_idle = matches!(reason, Reason::Idle);
        state.sleeps.store(is_idle, Relaxed);
        if !matches!(reason, Reason::Idle | Reason::Replaced | Reason::Retires) {
            self.note(instance, reason, delay, state.wanted.load(Relaxed));
        }
    }

    /// No thread executes anything in a leader's domain, from its next instruction on.
    pub fn unmap(&self, leader: &'static Instance) -> Result<(), Error> {
        self.unmap_pages(leader)?;
        if leader.float == FLOAT_PROCESSES {
            self.leave_processes(leader.domain);
        }
        Ok(())
    }

    /// The same but for processes that a leader runs.
    pub fn unmap_pages(&self, leader: &'static Instance) -> Result<(), Error> {
        self.fellows(leader).try_for_each(|fellow| imports::MEMORY.kill(fellow.number))
    }

    /// No thread executes anything in an instance any more; what it did until now is to be undone.
    fn end(&self, record: &'static Instance, now: u64) {
        let state = state(record.number);
        self.expect("unmap", record, self.unmap(record));
        self.expect("mark", record, privileged::set_alive(record.domain, false));
        self.cancel_start(record);
        self.end_trial_of(record.number);
        state.died.store(now, Relaxed);
        state.look.store(0, Relaxed);
        state.look_interval.store(ticks(LOOK_FIRST_MICROSECONDS), Relaxed);
        INSTANCES.enter(record.number, Phase::Closing);
    }

    /// The priority of the next step for an instance that is not alive.
    pub fn priority_of(&self, instance: InstanceId) -> u8 {
        let state = state(instance);
        match state.phase() {
            Phase::Closing | Phase::Leaving | Phase::Reclaiming => self.recovery_priority(instance),
            _ => state.wanted.load(Relaxed),
        }
    }

    /// One step of what is to be done for an instance that is not alive, or for one of its fellows.
    pub fn step(&self, instance: InstanceId) {
        let state = state(instance);
        let fellow = InstanceId(state.at.load(Relaxed));
        let Some(record) = self.instance(fellow) else { return };
        let cursor = &state.cursor;
        match state.phase() {
            Phase::Absent | Phase::Alive | Phase::Tried | Phase::Asleep | Phase::Quarantined => {}
            Phase::Closing if self.is_on_trial(fellow) => {
                let portals = imports::DOMAIN_PORTALS.get().ok_or(Error::NotSupported);
                let step = portals.and_then(|portals| {
                    advance(cursor, |at| self.in_portals(|| portals.leave_domain(fellow, at)))
                });
                self.next(record, "take the portals of", step, Phase::Leaving);
            }
            // What it had loaded ends with it.
            Phase::Closing if self.end_next_child(fellow) => {}
            Phase::Closing => {
                let step =
                    advance(cursor, |_| self.in_portals(|| imports::PORTALS.instance_died(fellow)));
                self.next(record, "take the portals of", step, Phase::Leaving);
            }
            Phase::Leaving => {
                if self.leave_some(record) {
                    INSTANCES.enter(instance, Phase::Reclaiming);
                }
            }
            Phase::Reclaiming => {
                let mut step = Ok(false);
                for _ in 0..RECLAIMS_OF_STEP {
                    step = advance(cursor, |at| imports::CONTROL.reclaim(fellow, at));
                    if step != Ok(false) {
                        break;
                    }
                }
                self.next(record, "reclaim from", step, Phase::Waiting);
            }
            Phase::Waiting => self.wait_for_one(record),
            Phase::Quieting => self.quiet(record),
            Phase::Releasing => {
                let step = advance(cursor, |at| match self.is_on_trial(fellow) {
                    true => imports::MEMORY.release_for_successor(fellow, at),
                    false => imports::MEMORY.release(fellow, at),
                });
                self.next(record, "take the memory of", step, Phase::Dead);
            }
            Phase::Dead => match self.in_portals(|| imports::PORTALS.instance_starts(fellow)) {
                Ok(()) => {
                    self.take_content(record);
                    self.next(record, "start", Ok(true), Phase::Renewing);
                }
                failed => {
                    self.expect("start", record, failed);
                    state.due.store(now() + ticks(next_delay(state) * 1000), Relaxed);
                }
            },
            Phase::Renewing if replacing::take_fresh(fellow) => {
                self.next(record, "renew", Ok(true), Phase::Sweeping);
            }
            Phase::Renewing => {
                let but_stacks = state.sleeps.load(Relaxed);
                let step = advance(cursor, |at| imports::MEMORY.renew(fellow, at, but_stacks));
                self.next(record, "renew", step, Phase::Sweeping);
            }
            Phase::Sweeping => match self.sweep_some(record) {
                true if state.retires.load(Relaxed) => INSTANCES.enter(instance, Phase::Retiring),
                true => self.begin(record),
                false => {}
            },
            Phase::Retiring => {
                let leader = self.instance(instance);
                leader.into_iter().for_each(|leader| self.retire_some(leader));
            }
        }
    }

    /// After a step for one of those that end together: when it is done, the next of them has its turn; behind the last the next
    /// phase begins. What fails is told, and does not keep the others from their turn.
    fn next(&self, record: &Instance, what: &str, step: Result<bool, Error>, next: Phase) {
        if step != Ok(false) {
            match record.next_fellow {
                InstanceId(0)
                    if next == Phase::Dead && state(record.leader).retires.load(Relaxed) =>
                {
                    INSTANCES.enter(record.leader, Phase::Retiring);
                }
                InstanceId(0) => INSTANCES.enter(record.leader, next),
                fellow => {
                    let state = state(record.leader);
                    state.cursor.store(0, Relaxed);
                    state.at.store(fellow.0, Relaxed);
                }
            }
        }
        self.expect(what, record, step.map(drop));
    }

    /// Sends threads away that are in the instance or come back to it; whether these were the last.
    fn leave_some(&self, record: &Instance) -> bool {
        let state = state(record.number);
        let mut at = state.cursor.load(Relaxed);
        let first = at;
        let undisturbed = Undisturbed::begin();
        for _ in 0..THREADS_OF_STEP {
            let Some(index) = self.next_thread(at) else {
                at = self.thread_count();
                break;
            };
            at = index + 1;
            if self.comes_too_early(index, record.leader) {
                continue;
            }
            match self.send_away(index, record.domain) {
                true => state.away.insert(index),
                false => state.away.remove(index),
            }
        }
        if !undisturbed.holds() {
            // They are looked at again, one by one.
            (first..at).filter(|index| self.exists(*index)).for_each(|index| {
                state.away.insert(index);
            });
        }
        state.cursor.store(at, Relaxed);
        at >= self.thread_count()
    }

    /// Looks at the next thread that has to come back. When none is left, nothing names its domain.
    fn wait_for_one(&self, record: &'static Instance) {
        let state = state(record.number);
        let at = state.cursor.load(Relaxed);
        if let Some(index) = state.away.next(at) {
            state.cursor.store(index + 1, Relaxed);
            let undisturbed = Undisturbed::begin();
            let has_just_come = self.comes_too_early(index, record.leader);
            // Where another has the same page table, a thread of that could have gone on in the dead code.
            let is_away = !has_just_come && self.send_away(index, record.domain);
            if has_just_come || !self.exists(index) || (!is_away && undisturbed.holds()) {
                state.away.remove(index);
                self.lift_budget(index, false);
            } else if is_away && self.is_late(record.number) {
                // Who sent it elsewhere may not wait for its budget.
                self.lift_budget(index, true);
                self.call_home(index);
            }
            return;
        }
        // What one on trial had loaded or prepared stays, and so does its successor.
        let is_on_trial = self.is_on_trial(record.leader);
        let ends_one = |fellow: &Instance| self.end_next_made_for(fellow.number);
        if state.away.next(0).is_none() && !is_on_trial && self.fellows(record).any(ends_one) {
            return;
        }
        let has_children = || !is_on_trial && self.has_children(record);
        if state.away.next(0).is_none() && !has_children() {
            let has_owner = imports::DEVICES.get().is_some();
            let next = if has_owner { Phase::Quieting } else { Phase::Releasing };
            return INSTANCES.enter(record.number, next);
        }
        let interval = state.look_interval.load(Relaxed);
        let longer = (interval * 2).min(ticks(LOOK_MAXIMUM_MICROSECONDS));
        state.look_interval.store(longer, Relaxed);
        state.look.store(now() + interval, Relaxed);
        state.cursor.store(0, Relaxed);
    }

    /// Resets the devices of one of those that end together: while one of them may still reach its memory, nothing of that changes.
    fn quiet(&self, record: &'static Instance) {
        let state = state(record.leader);
        match imports::DEVICES.get().map_or(Ok(()), |devices| devices.quiet(record.number)) {
            Ok(()) => self.next(record, "reset the devices of", Ok(true), Phase::Releasing),
            Err(Error::Busy | Error::Dead) if state.cursor.load(Relaxed) < RESETS => {
                state.cursor.fetch_add(1, Relaxed);
                state.look.store(now() + ticks(RESET_MICROSECONDS), Relaxed);
            }
            failed => {
                self.expect("reset the devices of", record, failed);
                INSTANCES.enter(record.leader, Phase::Quarantined);
                // There is no next life for which those that came meanwhile could wait, or who comes from now on.
                state.sleeps.store(false, Relaxed);
                STANDING.let_go(Until::Lives, record.leader);
            }
        }
    }

    /// Sends threads away that entered the instance since its death; whether these were the last.
    ///
    /// What they brought on its stacks may be gone since. A thread that enters after this has begun finds all of it: its
    /// call is as good as one that comes when the instance lives again.
    fn sweep_some(&self, record: &Instance) -> bool {
        let cursor = &state(record.number).cursor;
        let mut at = cursor.load(Relaxed);
        for _ in 0..THREADS_OF_SWEEP {
            let Some(index) = self.next_thread(at) else { return true };
            if self.is_in(index, record.domain) && !self.comes_too_early(index, record.leader) {
                self.unwind(record.domain, index);
            }
            at = index + 1;
        }
        cursor.store(at, Relaxed);
        false
    }

    /// The instance's next life begins, or waits for a call to begin. The worker has just taken up all faults.
    fn begin(&self, record: &'static Instance) {
        let state = state(record.number);
        // Alive first: a thread that finds its memory there can do everything.
        let revived = privileged::set_alive(record.domain, true);
        let again = u32::from(!self.is_on_trial(record.number));
        state.restarts.fetch_add(again, Relaxed);
        state.due.store(u64::MAX, Relaxed);
        let sleeps = state.sleeps.load(Relaxed);
        if sleeps && revived.is_ok() {
            INSTANCES.enter(record.number, Phase::Asleep);
            if STANDING.of(Until::Lives, record.number).next().is_none() {
                return;
            }
        }
        if !self.start(record, revived) {
            state.restarts.fetch_sub(again, Relaxed);
        }
        if sleeps {
            STANDING.let_go(Until::Lives, record.number);
        }
    }

    /// An instance, whose memory is as at the start, lives, if nothing went wrong until now; whether it does.
    pub fn start(&self, record: &'static Instance, before: Result<(), Error>) -> bool {
        let instance = record.number;
        let state = state(instance);
        let revived = before.and_then(|()| {
            self.fellows(record).try_for_each(|fellow| imports::MEMORY.revive(fellow.number))
        });
        state.started.store(now(), Relaxed);
        // Before it lives, and so before its first thread can say that it serves: who lives and does not start serves, and a
        // thread that waits for that looks at any time.
        self.fellows(record).for_each(|fellow| self.starts(fellow, None));
        INSTANCES.enter(instance, Phase::Alive);
        self.look_later(record);
        let result = revived
            .and_then(|()| self.fellows(record).try_for_each(|fellow| self.start_first(fellow)));
        if result.is_err() {
            self.expect("start", record, result);
            // It dies once more, and this counts as a fault: what was in the way may go away.
            let now = now();
            self.end(record, now);
            state.sleeps.store(false, Relaxed);
            state.due.store(now + ticks(next_delay(state) * 1000), Relaxed);
        }
        result.is_ok()
    }

    /// Starts the first thread of an instance, if it has one.
    fn start_first(&self, record: &Instance) -> Result<(), Error> {
        if record.main != 0 {
            let priority = record.priority as u8;
            let (entry, stack) = (record.main, record.stack);
            let first = imports::CONTROL.start(record.number, entry, stack, priority)?;
            state(record.number).first.store(first, Relaxed);
        }
        Ok(())
    }

    /// What an instance that is not alive waits for: `None` if a step can be done.
    pub fn waits_until(&self, instance: InstanceId) -> Option<u64> {
        let state = state(instance);
        match state.phase() {
            Phase::Waiting | Phase::Quieting | Phase::Retiring => Some(state.look.load(Relaxed)),
            Phase::Sweeping if state.retires.load(Relaxed) => Some(state.look.load(Relaxed)),
            Phase::Quarantined => Some(u64::MAX),
            Phase::Dead => Some(state.due.load(Relaxed)),
            _ => None,
        }
    }
}

/// Whether the memory of an instance was put into its page table after this time.
fn is_mapped_since(instance: InstanceId, time: u64) -> bool {
    let state = state(instance);
    time <= state.started.load(Relaxed).max(state.needed.load(Relaxed))
}

/// Counts a fault: milliseconds until the restart.
fn next_delay(state: &InstanceState) -> u64 {
    backoff::delay(state.faults.fetch_add(1, Relaxed))
}

/// One step of an operation that is done in steps; whether it was the last.
fn advance(
    cursor: &AtomicU64,
    step: impl FnOnce(u64) -> Result<u64, Error>,
) -> Result<bool, Error> {
    let next = step(cursor.load(Relaxed))?;
    cursor.store(next, Relaxed);
    Ok(next == 0)
}
