//! Instances that are started by the first call into them, and ended when nobody needs them any more.
//!
//! No instruction on the way of a call tells when the last one came. So an instance in which no thread of another's is, is
//! *tried* after its time: its memory goes out of its page table, and the next thread that executes anything in it faults,
//! which brings the memory back. If that does not happen for as long again, and nobody is inside, it ends. That takes many
//! steps, and who comes meanwhile waits for the last of them: the stacks, with what callers bring on them, are left as they are.

use crate::component as imports;
use crate::lasting::lasting;
use crate::reason::Reason;
use crate::system::{INSTANCES, System, state};
use cairn::InstanceId;
use cairn::time::{now, ticks};
use cairn_abi::record::Instance;
use cairn_supervisor::instances::Phase;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The priority of looking: all others but the idle thread are more urgent.
pub const PRIORITY: u8 = 1;
/// Threads that one look is at.
const THREADS_OF_LOOK: usize = 6;

/// When the next instance is looked at, in ticks.
static NEXT: &AtomicU64 = &lasting().idle_look;

/// No instance is known yet.
pub fn begin() {
    NEXT.store(u64::MAX, Relaxed);
}

/// When to look next, for the worker.
pub fn next_look() -> u64 {
    NEXT.load(Relaxed)
}

impl System {
    /// Those that are started by a call: the layout gave them no thread, and took their memory out of their page tables.
    pub fn put_to_sleep(&self) {
        for record in self.instances(0).filter(|one| one.on_demand != 0) {
            INSTANCES.enter(record.number, Phase::Asleep);
        }
    }

    /// Whether a page fault in an instance was that it sleeps or was tried, which is over now.
    pub fn wakes(&self, leader: InstanceId) -> bool {
        let phase = state(leader).phase();
        if !matches!(phase, Phase::Tried | Phase::Asleep) {
            return false;
        }
        let Some(record) = self.instance(leader) else { return false };
        if phase == Phase::Asleep {
            self.start(record, Ok(()));
        } else {
            self.bring_back(record);
            self.look_later(record);
        }
        true
    }

    fn bring_back(&self, record: &'static Instance) {
        for fellow in self.fellows(record) {
            self.expect("map", fellow, imports::MEMORY.bring_back(fellow.number));
        }
        state(record.number).needed.store(now(), Relaxed);
        INSTANCES.enter(record.number, Phase::Alive);
    }

    /// Looks again when its time has passed, if it has one.
    pub fn look_later(&self, record: &Instance) {
        if record.idle_stop != 0 {
            let at = now() + ticks(record.idle_stop.div_ceil(1000));
            state(record.number).look.store(at, Relaxed);
            NEXT.fetch_min(at, Relaxed);
        }
    }

    /// Looks at the next instance whose time has come, or at a part of its threads.
    pub fn look_at_idle(&self) {
        let (mut due, mut next) = (None, u64::MAX);
        for record in self.instances(0).filter(|one| one.idle_stop != 0) {
            let state = state(record.number);
            if matches!(state.phase(), Phase::Alive | Phase::Tried) {
                let at = state.look.load(Relaxed);
                next = next.min(at);
                due = due.or((at <= now()).then_some(record));
            }
        }
        NEXT.store(next, Relaxed);
        let Some(record) = due else { return };
        let cursor = &state(record.number).cursor;
        let mut at = cursor.load(Relaxed);
        for _ in 0..THREADS_OF_LOOK {
            let Some(index) = self.next_thread(at) else { return self.is_idle(record) };
            if self.holds(index, record.domain) && !self.is_its_own(index, record) {
                if state(record.number).phase() == Phase::Tried {
                    self.bring_back(record);
                }
                cursor.store(0, Relaxed);
                return self.look_later(record);
            }
            at = index + 1;
        }
        cursor.store(at, Relaxed);
    }

    /// Whether a thread is in an instance that ends because nobody needed it, and came since: no other's was in it before.
    pub fn comes_too_early(&self, index: u64, leader: InstanceId) -> bool {
        let state = state(leader);
        let ends = state.sleeps.load(Relaxed) && !state.is_alive();
        ends && self.instance(leader).is_some_and(|record| !self.is_its_own(index, record))
    }

    /// Whether a thread began in an instance, or in one that lives in its domain.
    pub fn is_its_own(&self, index: u64, record: &'static Instance) -> bool {
        let home =
            imports::SCHEDULING.thread(index).map_or(InstanceId(0), |thread| self.home(thread));
        self.fellows(record).any(|fellow| fellow.number == home)
    }

    /// No thread of others is in an instance: it is tried, or, if it was, ends. Nobody came in while it was tried.
    fn is_idle(&self, record: &'static Instance) {
        if state(record.number).phase() == Phase::Tried {
            return self.die(record.number, Reason::Idle);
        }
        // It may come back: who is in a process stays there.
        self.expect("try", record, self.unmap_pages(record));
        INSTANCES.enter(record.number, Phase::Tried);
        self.look_later(record);
    }
}
