//! Live replacement: the next life of an instance has the content of its successor (`docs/replacement.md`).
//!
//! Its callers wait at their portals meanwhile, which the loader has seen to, and none of them is in it. So its end is one like others, with
//! its own threads and what it had opened, but what others have of it stays. Those in its domain end with it and live again, each with its own content. Until the loader says that it stays as it is now, it is on *trial*: if
//! it dies, it does not live again before the loader has given it its former content back.

use crate::component as imports;
use crate::ready;
use crate::reason::Reason;
use crate::system::{INSTANCES, System, state};
use cairn::time::{now, own_thread, ticks};
use cairn::{Error, InstanceId};
use cairn_abi::record::{CALLERS_WAIT_ONCE, Instance};
use cairn_supervisor::instances::Phase;
// Relaxed: one hart; what the worker is asked for is written before the request.
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU16, AtomicU64, Ordering::Relaxed};

/// The leader of those that are on trial, since they end together, which of them is replaced, and who replaces it; 0: none.
static TRIAL: AtomicU16 = AtomicU16::new(0);
static REPLACED: AtomicU16 = AtomicU16::new(0);
static BY: AtomicU16 = AtomicU16::new(0);
/// The number whose content it gets next, or 0 behind that; whether no life has been on that content, and whether it has that.
static NEXT: AtomicU16 = AtomicU16::new(0);
static IS_NEW: AtomicBool = AtomicBool::new(false);
static IS_FRESH: AtomicBool = AtomicBool::new(false);
/// When it got it, and what became of that: a status as a portal has it.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static STATUS: AtomicI64 = AtomicI64::new(0);

/// The name of the thread that waits for what becomes of that; 0: none; [`TOLD`]: the worker ends its wait.
static WAITING: AtomicU64 = AtomicU64::new(0);
/// No thread has this name. The worker may be stopped before it has ended the wait, by whoever is more urgent, as the one that waits may be: that
/// has to wait on then, or else the end would be that of its next wait.
const TOLD: u64 = u64::MAX;
/// Between two looks whether it has.
const TOLD_MICROSECONDS: u64 = 10;

/// An instance is to get the content of another number, says the loader; the worker does the rest.
pub fn ask(by: InstanceId, record: &Instance, from: InstanceId, is_new: bool) -> Result<(), Error> {
    let trial = (TRIAL.load(Relaxed), REPLACED.load(Relaxed), BY.load(Relaxed));
    let is_it = trial == (record.leader.0, record.number.0, by.0);
    // Nobody has come so far as to give it that content: it keeps its own.
    if is_it && !is_new && NEXT.compare_exchange(from.0, 0, Relaxed, Relaxed).is_ok() {
        TAKEN.store(now(), Relaxed);
        return Ok(());
    }
    if (trial.0 != 0 && !is_it) || NEXT.load(Relaxed) != 0 {
        return Err(Error::Busy);
    }
    if state(record.leader).retires.load(Relaxed) {
        return Err(Error::NotSupported);
    }
    IS_NEW.store(is_new, Relaxed);
    IS_FRESH.store(false, Relaxed);
    STATUS.store(0, Relaxed);
    BY.store(by.0, Relaxed);
    NEXT.store(from.0, Relaxed);
    REPLACED.store(record.number.0, Relaxed);
    TRIAL.store(record.leader.0, Relaxed);
    Ok(())
}

/// Whether those whose leader this is are on trial, one of them replaced by this instance.
pub fn check(by: InstanceId, leader: InstanceId) -> Result<(), Error> {
    let is_it = (TRIAL.load(Relaxed), BY.load(Relaxed)) == (leader.0, by.0);
    if is_it { Ok(()) } else { Err(Error::NotFound) }
}

/// Whether the memory of an instance that begins its next life is as it was made; it is not any more behind that.
pub fn take_fresh(instance: InstanceId) -> bool {
    REPLACED.load(Relaxed) == instance.0 && IS_FRESH.swap(false, Relaxed)
}

/// Waits for the outcome until this time, and on while the worker is about to end the wait; perhaps in vain: it may have come just before.
pub fn wait(until: u64) {
    let name = imports::SCHEDULING.thread(own_thread()).map_or(0, |thread| thread.name);
    WAITING.store(name, Relaxed);
    let mut until = until;
    loop {
        let ended = imports::THREADS.sleep_until(until);
        let is_told = WAITING.compare_exchange(name, 0, Relaxed, Relaxed) == Err(TOLD);
        if !is_told || ended == Err(Error::Cancelled) {
            return;
        }
        until = now() + ticks(TOLD_MICROSECONDS);
    }
}

impl System {
    /// Whether those on trial, whose leader this is, serve, one of them with the content that it was to get; `WouldBlock`: not yet.
    pub fn outcome(&self, leader: InstanceId) -> Result<(), Error> {
        let state = state(leader);
        match STATUS.load(Relaxed) {
            0 => {}
            status => return Err(Error::from_status(status)),
        }
        if NEXT.load(Relaxed) != 0 {
            return Err(Error::WouldBlock);
        }
        let mut all = self.together(leader);
        match state.phase() {
            Phase::Alive if all.any(|one| ready::is_starting(one.number)) => Err(Error::WouldBlock),
            Phase::Alive => Ok(()),
            // A device does not confirm its reset: there is no next life.
            Phase::Quarantined => Err(Error::Dead),
            _ if state.died.load(Relaxed) > TAKEN.load(Relaxed) => Err(Error::Dead),
            _ => Err(Error::WouldBlock),
        }
    }

    /// Ends the wait for the outcome if there is one.
    pub fn tell_outcome(&self) {
        let (waiting, trial) = (WAITING.load(Relaxed), InstanceId(TRIAL.load(Relaxed)));
        if waiting != 0
            && self.outcome(trial) != Err(Error::WouldBlock)
            && WAITING.compare_exchange(waiting, TOLD, Relaxed, Relaxed).is_ok()
        {
            let _ = imports::CONTROL.cancel_wait(waiting);
            // Whoever has gone on may wait for the next outcome already.
            let _ = WAITING.compare_exchange(TOLD, 0, Relaxed, Relaxed);
        }
    }

    /// Whether an instance is on trial, or one with which it ends.
    pub fn is_on_trial(&self, instance: InstanceId) -> bool {
        let trial = TRIAL.load(Relaxed);
        trial != 0 && self.instance(instance).is_some_and(|record| record.leader.0 == trial)
    }

    /// Those on trial, whose leader this is, end, so that one of them gets its next content.
    pub fn end_for_successor(&self, instance: InstanceId) -> Result<(), Error> {
        let state = state(instance);
        if state.retires.load(Relaxed) || state.phase() == Phase::Quarantined {
            NEXT.store(0, Relaxed);
            return Err(Error::NotSupported);
        }
        if let Some(record) = self.instance(instance)
            && self.gives_way(record)
        {
            let successor = InstanceId(NEXT.swap(0, Relaxed));
            return self.succeed(record, successor);
        }
        if state.is_alive() {
            self.die(instance, Reason::Replaced);
        } else {
            state.due.store(now(), Relaxed);
        }
        Ok(())
    }

    /// An instance is dead, and begins its next life: takes the content that it is to get.
    pub fn take_content(&self, record: &'static Instance) {
        let instance = record.number;
        // Who is to get something is on trial.
        if REPLACED.load(Relaxed) != instance.0 || NEXT.load(Relaxed) == 0 {
            return;
        }
        let from = InstanceId(NEXT.load(Relaxed));
        let taken = imports::MEMORY.exchange(instance, from).and_then(|()| {
            let portals = imports::DOMAIN_PORTALS.get().ok_or(Error::NotSupported)?;
            self.in_portals(|| portals.relink(instance)).inspect_err(|_| {
                let back = imports::MEMORY.exchange(instance, from);
                self.expect("exchange back", record, back);
            })
        });
        TAKEN.store(now(), Relaxed);
        NEXT.store(0, Relaxed);
        // As it was made. In the page table of another it has the pages of its last life.
        let is_as_made = IS_NEW.load(Relaxed) && record.host == InstanceId(0);
        IS_FRESH.store(taken.is_ok() && is_as_made, Relaxed);
        if let Err(error) = taken {
            STATUS.store(error.status(), Relaxed);
            self.expect("exchange", record, Err(error));
        }
    }

    /// The instance on trial stays as it is, or, if it is dead, lives again by its policy.
    pub fn end_trial(&self) {
        let instance = InstanceId(TRIAL.swap(0, Relaxed));
        NEXT.store(0, Relaxed);
        let state = state(instance);
        if let Some(record) = self.instance(instance)
            && record.callers_wait == CALLERS_WAIT_ONCE
        {
            // Who moved it is gone before it served. Where callers do not wait for that nobody calls them home.
            self.serves(record);
        }
        if instance != InstanceId(0) && !state.is_alive() && !state.retires.load(Relaxed) {
            state.due.fetch_min(now(), Relaxed);
            INSTANCES.requested.insert(instance.into());
        }
    }

    /// An instance ends for good, on trial or not.
    pub fn forget_trial(&self, instance: InstanceId) {
        if self.is_on_trial(instance) {
            TRIAL.store(0, Relaxed);
            NEXT.store(0, Relaxed);
            IS_FRESH.store(false, Relaxed);
        }
    }

    /// Who replaces an instance dies.
    pub fn end_trial_of(&self, by: InstanceId) {
        if TRIAL.load(Relaxed) != 0 && BY.load(Relaxed) == by.0 {
            self.end_trial();
        }
    }
}
