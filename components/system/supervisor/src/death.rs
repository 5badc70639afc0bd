//! The death of a domain, and its new life (`docs/architecture.md`, "Death").
//!
//! Whoever faulted stands still already; what has to be done at once, so that nobody executes anything in the
//! domain any more, is done at the priority of who faulted ([`System::die`]). All else are steps of bounded length
//! ([`System::step`]): whoever is more urgent runs between any two instructions of them, and between any two steps
//! the worker looks at who calls it. The threads that are in the domain are sent away at the priority of the
//! instance; what comes then has that of who let it die or has called it since, as far as that of the instance: so
//! who lets a server die takes no more time from others than is its own.

use crate::component as imports;
use crate::look::Undisturbed;
use crate::state::{InstanceState, Phase, System, enter, state};
use cairn::time::{now, ticks};
use cairn::{Error, privileged};
use cairn_abi::record::{Instance, RESTART_ALWAYS, RESTART_NEVER};
use cairn_supervisor::backoff;
use cairn_supervisor::stack::{Frame, Kind};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// After a death, how long until the invocation stacks are looked at again; doubles.
const LOOK_FIRST_MICROSECONDS: u64 = 1;
const LOOK_MAXIMUM_MICROSECONDS: u64 = 20_000;
/// Threads that one step looks at.
const THREADS_OF_STEP: usize = 6;
const THREADS_OF_SWEEP: usize = 16;

/// What `SchedulerControl::fault_of` answers.
const CAUSE: u64 = 0;
const VALUE: u64 = 1;
const TIME: u64 = 2;

/// Why a domain dies.
#[derive(Clone, Copy)]
pub enum Reason {
    /// It faulted in this thread, whose top frame this is.
    Fault { thread: u64, frame: Frame, cause: u64, value: u64 },
    /// A call of this thread executed for longer than its export declares, in ticks.
    RanAway { thread: u64, longest: u64 },
    /// It kept a thread that was called home.
    Kept { thread: u64 },
    /// Its main function returned, and its policy is to start it again.
    Returned,
    /// Somebody asked for it, and perhaps for a new start.
    Asked {
        /// It shall start again.
        restart: bool,
    },
}

impl System {
    /// A thread faulted: mends it, or lets the domain die.
    pub fn fault(&self, thread: u64) {
        let index = thread & 0xff;
        let (Ok(cause), Ok(value)) =
            (imports::CONTROL.fault_of(thread, CAUSE), imports::CONTROL.fault_of(thread, VALUE))
        else {
            return;
        };
        let Some(frame) = self.frames(index).next().filter(|frame| frame.kind == Kind::Trap) else {
            return;
        };
        let domain = frame.into;
        if frame.dead || !state(domain).is_alive() {
            // Whoever enters a dead domain faults at its first instruction: an error return.
            self.want(domain, thread);
        } else if self.came_home(thread, frame, cause, value) {
            // It goes on in its caller.
        } else if is_page_fault(cause) && self.began_since(domain, thread) {
            // It came when the domain was about to live again, and now it does. What it brings is whole: of who
            // came earlier, nobody was left before this life began.
        } else if is_page_fault(cause) && imports::MEMORY.page_fault(domain, value, cause).is_ok() {
            // Mended.
        } else {
            self.die(domain, Reason::Fault { thread: index, frame, cause, value });
        }
        if !state(domain).is_alive() {
            self.unwind(domain, index);
        }
        let _ = imports::CONTROL.resume(thread);
    }

    /// The highest priority of what is done for a domain that is not alive.
    pub fn recovery_priority(&self, domain: u64) -> u8 {
        self.instance(domain).map_or(0, |instance| instance.recovery_priority as u8)
    }

    /// A thread wants the next life of a domain.
    fn want(&self, domain: u64, thread: u64) {
        let priority = imports::CONTROL.thread_state(thread & 0xff).unwrap_or(0) >> 8 & 0xff;
        let most = self.recovery_priority(domain);
        state(domain).wanted.fetch_max((priority as u8).min(most), Relaxed);
    }

    fn began_since(&self, domain: u64, thread: u64) -> bool {
        let time = imports::CONTROL.fault_of(thread, TIME).unwrap_or(u64::MAX);
        let state = state(domain);
        state.restarts.load(Relaxed) > 0 && time <= state.started.load(Relaxed)
    }

    /// The first thread of a domain has ended. Others may be alive, and it may serve calls: that is an end only
    /// for those that shall always run.
    pub fn returned(&self, domain: u64) {
        let wanted =
            |instance: &&Instance| instance.restart == RESTART_ALWAYS && instance.essential == 0;
        if self.instance(domain).filter(wanted).is_some() && state(domain).is_alive() {
            self.die(domain, Reason::Returned);
        }
    }

    /// A domain dies: from here on nobody executes anything in it.
    pub fn die(&self, domain: u64, reason: Reason) {
        let Some(instance) = self.instance(domain) else { return };
        let state = state(domain);
        let now = now();
        self.expect("unmap", instance, imports::MEMORY.kill(domain));
        self.expect("mark", instance, privileged::set_alive(domain, false));
        let behaved = now.saturating_sub(state.started.load(Relaxed))
            >= ticks(backoff::GOOD_BEHAVIOUR_MILLISECONDS * 1000);
        if behaved {
            state.faults.store(0, Relaxed);
        }
        let delay = match reason {
            Reason::Asked { restart } => {
                (restart || instance.restart == RESTART_ALWAYS).then_some(0)
            }
            _ if instance.restart == RESTART_NEVER => None,
            Reason::Fault { .. }
            | Reason::RanAway { .. }
            | Reason::Kept { .. }
            | Reason::Returned => Some(next_delay(state)),
        };
        state.due.store(delay.map_or(u64::MAX, |delay| now + ticks(delay * 1000)), Relaxed);
        state.died.store(now, Relaxed);
        match reason {
            Reason::Fault { thread, .. }
            | Reason::RanAway { thread, .. }
            | Reason::Kept { thread } => {
                state.wanted.store(0, Relaxed);
                self.want(domain, thread);
            }
            Reason::Returned | Reason::Asked { .. } => {
                state.wanted.store(self.recovery_priority(domain), Relaxed);
            }
        }
        state.look.store(0, Relaxed);
        state.look_interval.store(ticks(LOOK_FIRST_MICROSECONDS), Relaxed);
        self.note(domain, reason, delay, state.wanted.load(Relaxed));
        enter(domain, Phase::Closing);
    }

    /// The priority of the next step for a domain that is not alive.
    pub fn priority_of(&self, domain: u64) -> u8 {
        let state = state(domain);
        match state.phase() {
            Phase::Closing | Phase::Leaving | Phase::Reclaiming => self.recovery_priority(domain),
            _ => state.wanted.load(Relaxed),
        }
    }

    /// One step of what is to be done for a domain that is not alive.
    pub fn step(&self, domain: u64) {
        let Some(instance) = self.instance(domain) else { return };
        let state = state(domain);
        let cursor = &state.cursor;
        match state.phase() {
            Phase::Alive => {}
            Phase::Closing => {
                let step =
                    advance(cursor, |_| self.in_portals(|| imports::PORTALS.domain_died(domain)));
                self.next(instance, "take the portals of", step, Phase::Leaving);
            }
            Phase::Leaving => {
                if self.leave_some(domain) {
                    enter(domain, Phase::Reclaiming);
                }
            }
            Phase::Reclaiming => {
                let step = advance(cursor, |at| imports::CONTROL.reclaim(domain, at));
                self.next(instance, "reclaim from", step, Phase::Waiting);
            }
            Phase::Waiting => self.wait_for_one(domain),
            Phase::Releasing => {
                let step = advance(cursor, |at| imports::MEMORY.release(domain, at));
                self.next(instance, "take the memory of", step, Phase::Dead);
            }
            Phase::Dead => match self.in_portals(|| imports::PORTALS.domain_starts(domain)) {
                Ok(()) => enter(domain, Phase::Renewing),
                failed => {
                    self.expect("start", instance, failed);
                    state.due.store(now() + ticks(next_delay(state) * 1000), Relaxed);
                }
            },
            Phase::Renewing => {
                let step = advance(cursor, |at| imports::MEMORY.renew(domain, at));
                self.next(instance, "renew", step, Phase::Sweeping);
            }
            Phase::Sweeping => {
                if self.sweep_some(domain) {
                    self.begin(instance);
                }
            }
        }
    }

    /// After a step: the next phase begins when this one is done. What fails is told, and does not keep the
    /// others from their turn.
    fn next(&self, instance: &Instance, what: &str, step: Result<bool, Error>, next: Phase) {
        if step != Ok(false) {
            enter(instance.number.into(), next);
        }
        self.expect(what, instance, step.map(drop));
    }

    /// Sends threads away that are in the domain or come back to it; whether these were the last.
    fn leave_some(&self, domain: u64) -> bool {
        let state = state(domain);
        let mut at = state.cursor.load(Relaxed);
        let first = at;
        let undisturbed = Undisturbed::begin();
        for _ in 0..THREADS_OF_STEP {
            let Some(index) = self.next_thread(at) else {
                at = self.thread_count();
                break;
            };
            self.unwind(domain, index);
            match self.holds(index, domain) {
                true => state.away.insert(index),
                false => state.away.remove(index),
            }
            at = index + 1;
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

    /// Looks at the next thread that has to come back. When none is left, nothing names the domain.
    fn wait_for_one(&self, domain: u64) {
        let state = state(domain);
        let at = state.cursor.load(Relaxed);
        if let Some(index) = state.away.next(at) {
            state.cursor.store(index + 1, Relaxed);
            let undisturbed = Undisturbed::begin();
            if !self.exists(index) || (!self.holds(index, domain) && undisturbed.holds()) {
                state.away.remove(index);
            } else if self.is_late(domain) {
                self.call_home(index);
            }
            return;
        }
        if state.away.next(0).is_none() {
            return enter(domain, Phase::Releasing);
        }
        let interval = state.look_interval.load(Relaxed);
        let longer = (interval * 2).min(ticks(LOOK_MAXIMUM_MICROSECONDS));
        state.look_interval.store(longer, Relaxed);
        state.look.store(now() + interval, Relaxed);
        state.cursor.store(0, Relaxed);
    }

    /// Sends those away who entered the domain since its death; whether these were the last.
    ///
    /// What they brought on its stacks may be gone since. Who enters after this has begun finds all of it: its
    /// call is as good as one that comes when the domain lives again.
    fn sweep_some(&self, domain: u64) -> bool {
        let cursor = &state(domain).cursor;
        let mut at = cursor.load(Relaxed);
        for _ in 0..THREADS_OF_SWEEP {
            let Some(index) = self.next_thread(at) else { return true };
            if self.is_in(index, domain) {
                self.unwind(domain, index);
            }
            at = index + 1;
        }
        cursor.store(at, Relaxed);
        false
    }

    /// The instance's next life begins. The worker has just taken up all faults.
    fn begin(&self, instance: &Instance) {
        let domain = u64::from(instance.number);
        let state = state(domain);
        // Alive first: whoever finds its memory there can do everything.
        let revived =
            privileged::set_alive(domain, true).and_then(|()| imports::MEMORY.revive(domain));
        state.started.store(now(), Relaxed);
        state.restarts.fetch_add(1, Relaxed);
        state.due.store(u64::MAX, Relaxed);
        enter(domain, Phase::Alive);
        let result = revived.and_then(|()| start(instance));
        if result.is_err() {
            self.expect("start", instance, result);
            // It dies once more, and this counts as a fault: what was in the way may go away.
            self.expect("unmap", instance, imports::MEMORY.kill(domain));
            self.expect("mark", instance, privileged::set_alive(domain, false));
            state.restarts.fetch_sub(1, Relaxed);
            state.due.store(now() + ticks(next_delay(state) * 1000), Relaxed);
            enter(domain, Phase::Closing);
        }
    }

    /// What a domain that is not alive waits for: `None` if a step can be done.
    pub fn waits_until(&self, domain: u64) -> Option<u64> {
        let state = state(domain);
        match state.phase() {
            Phase::Waiting => Some(state.look.load(Relaxed)),
            Phase::Dead => Some(state.due.load(Relaxed)),
            _ => None,
        }
    }
}

/// Page faults of fetches, loads and stores (privileged manual, table 4.2).
fn is_page_fault(cause: u64) -> bool {
    matches!(cause, 12 | 13 | 15)
}

/// Starts the first thread of an instance, if it has one.
fn start(instance: &Instance) -> Result<(), Error> {
    if instance.main == 0 {
        return Ok(());
    }
    let domain = instance.number.into();
    imports::CONTROL.start(domain, instance.main, instance.stack, instance.priority as u8).map(drop)
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
