//! Live replacement: the next life of an instance has the content of its successor (`docs/replacement.md`).
//!
//! Its callers wait at their portals meanwhile, which the loader has seen to, and none of them is in it. So its end is one like others, with
//! its own threads and what it had opened, but what others have of it stays. Until the loader says that it stays as it is now, it is on *trial*: if
//! it dies, it does not live again before the loader has given it its former content back.

use crate::component as imports;
use crate::ready;
use crate::reason::Reason;
use crate::system::{INSTANCES, System, state};
use cairn::time::{now, own_thread};
use cairn::{Error, InstanceId};
use cairn_abi::record::{CALLERS_WAIT_ONCE, Instance};
use cairn_supervisor::instances::Phase;
// Relaxed: one hart; what the worker is asked for is written before the request.
use core::sync::atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering::Relaxed};

/// The instance that is on trial, and who replaces it; 0: none.
static TRIAL: AtomicU16 = AtomicU16::new(0);
static BY: AtomicU16 = AtomicU16::new(0);
/// The number whose content it gets next, or 0 behind that; and whether no life has been on that content.
static NEXT: AtomicU16 = AtomicU16::new(0);
static IS_NEW: AtomicU16 = AtomicU16::new(0);
/// When it got it, and what became of that: a status as a portal has it.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static STATUS: AtomicI64 = AtomicI64::new(0);

/// The name of the thread that waits for what becomes of that; 0: none.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// An instance is to get the content of another number, says the loader; the worker does the rest.
pub fn ask(
    by: InstanceId,
    instance: InstanceId,
    from: InstanceId,
    is_new: bool,
) -> Result<(), Error> {
    let trial = InstanceId(TRIAL.load(Relaxed));
    let is_other = trial != InstanceId(0) && (trial, BY.load(Relaxed)) != (instance, by.0);
    if is_other || NEXT.load(Relaxed) != 0 {
        return Err(Error::Busy);
    }
    if state(instance).retires.load(Relaxed) {
        return Err(Error::NotSupported);
    }
    IS_NEW.store(is_new.into(), Relaxed);
    STATUS.store(0, Relaxed);
    BY.store(by.0, Relaxed);
    NEXT.store(from.0, Relaxed);
    TRIAL.store(instance.0, Relaxed);
    Ok(())
}

/// Whether an instance is on trial, replaced by this one.
pub fn check(by: InstanceId, instance: InstanceId) -> Result<(), Error> {
    let is_it = (TRIAL.load(Relaxed), BY.load(Relaxed)) == (instance.0, by.0);
    if is_it { Ok(()) } else { Err(Error::NotFound) }
}

/// Whether the instance on trial serves with the content that it was to get; `WouldBlock`: not yet.
pub fn outcome(instance: InstanceId) -> Result<(), Error> {
    let state = state(instance);
    match STATUS.load(Relaxed) {
        0 => {}
        status => return Err(Error::from_status(status)),
    }
    if NEXT.load(Relaxed) != 0 {
        return Err(Error::WouldBlock);
    }
    match state.phase() {
        Phase::Alive if ready::is_starting(instance) => Err(Error::WouldBlock),
        Phase::Alive => Ok(()),
        // A device does not confirm its reset: there is no next life.
        Phase::Quarantined => Err(Error::Dead),
        _ if state.died.load(Relaxed) > TAKEN.load(Relaxed) => Err(Error::Dead),
        _ => Err(Error::WouldBlock),
    }
}

/// Waits, until this time at most, for the outcome, perhaps in vain: it may have come just before.
pub fn wait(until: u64) {
    let name = imports::SCHEDULING.thread(own_thread()).map_or(0, |thread| thread.name);
    WAITING.store(name, Relaxed);
    let _ = imports::THREADS.sleep_until(until);
    WAITING.store(0, Relaxed);
}

/// Ends the wait for the outcome if there is one.
pub fn tell() {
    let (waiting, trial) = (WAITING.load(Relaxed), InstanceId(TRIAL.load(Relaxed)));
    if waiting != 0 && outcome(trial) != Err(Error::WouldBlock) {
        WAITING.store(0, Relaxed);
        let _ = imports::CONTROL.cancel_wait(waiting);
    }
}

impl System {
    /// Whether an instance is on trial.
    pub fn is_on_trial(&self, instance: InstanceId) -> bool {
        TRIAL.load(Relaxed) == instance.0
    }

    /// The instance on trial ends, to get its next content.
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

    /// An instance is dead, and begins its next life: takes the content that it is to get. The value is what is done next.
    pub fn take_content(&self, record: &'static Instance) -> Phase {
        let instance = record.number;
        if !self.is_on_trial(instance) || NEXT.load(Relaxed) == 0 {
            return Phase::Renewing;
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
        match taken {
            // As it was made. In the page table of another it has the pages of its last life.
            Ok(()) if IS_NEW.load(Relaxed) != 0 && record.host == InstanceId(0) => Phase::Sweeping,
            Ok(()) => Phase::Renewing,
            Err(error) => {
                STATUS.store(error.status(), Relaxed);
                self.expect("exchange", record, Err(error));
                Phase::Renewing
            }
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
        }
    }

    /// Who replaces an instance dies.
    pub fn end_trial_of(&self, by: InstanceId) {
        if TRIAL.load(Relaxed) != 0 && BY.load(Relaxed) == by.0 {
            self.end_trial();
        }
    }
}
