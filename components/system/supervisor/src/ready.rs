//! Instances that start and do not serve yet, and the threads that wait until they do.
//!
//! Nothing on the way of a call asks. The component itself does (`lib/cairn/src/ready.rs`): a call that comes too early reads a
//! word of a page that is not mapped, and faults; it stays stopped until the component reads another word there, which says that it
//! serves. A thread that is to leave before goes on behind that load, and its call answers `NotReady`.
//!
//! A first thread that waits for an instance whose own first thread waits for it, over however many, would do so for ever: the call of whoever
//! came last is answered at once. Others' locks may close such a circle later, so it is looked for now and then.

use crate::component as imports;
use crate::printer;
use crate::runaway;
use crate::system::{System, state};
use cairn::time::{now, ticks};
use cairn::{InstanceId, privileged};
use cairn_abi::address::{READY_OFFSET, READY_SAID};
use cairn_abi::record::Instance;
use cairn_abi::thread::{THREADS_MAXIMUM, index_of_name};
use cairn_abi::upcall::{Access, Fault};
use cairn_interfaces::Activity;
use cairn_supervisor::instances::{Numbers, Threads};
use cairn_supervisor::stack::{Frame, Kind};
use core::fmt::Write;
use core::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};

/// The priority of looking whether instances wait for each other: all others but the idle thread are more urgent.
pub const PRIORITY: u8 = 1;
/// Between two looks, and when it is said who does not serve yet.
const LOOK_MICROSECONDS: u64 = 100_000;
const LATE_MICROSECONDS: u64 = 10_000_000;
/// Owners of locks that are followed one from another, and instances that wait for each other.
const CHAIN_MAXIMUM: usize = 8;

/// Those that do not serve yet, and of those the ones of which that was said.
static STARTING: Numbers = Numbers::new();
static TOLD: Numbers = Numbers::new();
/// Threads that wait for one, and for which.
static WAITING: Threads = Threads::new();
static WAITS_FOR: [AtomicU16; THREADS_MAXIMUM] = [const { AtomicU16::new(0) }; THREADS_MAXIMUM];
/// When the first of them was seen: those of the layout have no other start.
static BEGAN: AtomicU64 = AtomicU64::new(0);
/// When to look next.
static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);

/// The same, for the worker.
pub fn next_look() -> u64 {
    NEXT.load(Relaxed)
}

/// What a thread reads in the page by which an instance says that it serves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// It serves.
    Says,
    /// Whether it does.
    Whether,
}

impl System {
    /// An instance begins to live, whose first thread has this name, if it has one.
    pub fn starts(&self, record: &Instance, first: Option<u64>) {
        state(record.number).first.store(first.unwrap_or(0), Relaxed);
        if record.callers_wait != 0 {
            STARTING.insert(record.number.into());
            TOLD.remove(record.number.into());
            let _ = BEGAN.compare_exchange(0, now(), Relaxed, Relaxed);
            NEXT.fetch_min(now() + ticks(LOOK_MICROSECONDS), Relaxed);
        }
    }

    /// Of which instance of the domain that a thread was in when it faulted it asked something.
    pub fn asks(&self, frame: Frame, fault: Fault) -> Option<(&'static Instance, Asks)> {
        let Fault::Denied(Access::Read, address) = fault else { return None };
        let leader = self.instance(self.lives_in(frame.into))?;
        self.fellows(leader).find_map(|record| {
            let asks = match address.wrapping_sub(record.start_address + READY_OFFSET) {
                0 => Asks::Whether,
                READY_SAID => Asks::Says,
                _ => return None,
            };
            STARTING.contains(record.number.into()).then_some((record, asks))
        })
    }

    /// An instance serves from now on: who waits for it goes on.
    pub fn serves(&self, record: &'static Instance) {
        if !STARTING.contains(record.number.into()) {
            return;
        }
        STARTING.remove(record.number.into());
        self.expect("open", record, imports::MEMORY.serves(record.number));
        state(record.leader).needed.store(now(), Relaxed);
        for index in self.waiting_for(record.number) {
            WAITING.remove(index);
            self.excuse(index);
            self.resume(index);
        }
    }

    /// A stopped thread waits until an instance serves, unless that waits for the thread; whether it does.
    pub fn await_ready(&self, index: u64, record: &'static Instance) -> bool {
        WAITS_FOR[index as usize % THREADS_MAXIMUM].store(record.number.0, Relaxed);
        if self.closes_circle(index, record.number) {
            let _ = self.answer_not_ready(index);
            return false;
        }
        WAITING.insert(index);
        true
    }

    /// An instance dies: nobody waits for it any more, and its first thread for nobody.
    pub fn starts_no_more(&self, leader: &'static Instance) {
        for record in self.fellows(leader) {
            STARTING.remove(record.number.into());
            for index in self.waiting_for(record.number) {
                WAITING.remove(index);
                self.unwind(record.domain, index);
                self.resume(index);
            }
        }
    }

    /// A thread that waits until an instance serves is called home: its call answers `NotReady`. Whether it was one.
    pub fn waits_no_more(&self, index: u64) -> bool {
        let waits = WAITING.contains(index) && self.answer_not_ready(index);
        if waits {
            WAITING.remove(index);
            self.resume(index);
        }
        waits
    }

    /// Looks whether those that do not serve yet wait for each other, and says which have not served for long.
    pub fn look_at_starting(&self) {
        let mut next = u64::MAX;
        for record in self.instances(0).filter(|one| STARTING.contains(one.number.into())) {
            next = now() + ticks(LOOK_MICROSECONDS);
            let (first, on) = self.first_waits(record.number);
            if let (Some(first), Some(on)) = (first, on)
                && WAITING.contains(first)
                && self.closes_circle(first, on)
            {
                self.waits_no_more(first);
            }
            let since = state(record.leader).started.load(Relaxed).max(BEGAN.load(Relaxed));
            if now().saturating_sub(since) > ticks(LATE_MICROSECONDS)
                && !TOLD.contains(record.number.into())
            {
                TOLD.insert(record.number.into());
                self.tell_late(record, on);
            }
        }
        NEXT.store(next, Relaxed);
    }

    /// The threads that wait for an instance.
    fn waiting_for(&self, instance: InstanceId) -> impl Iterator<Item = u64> {
        WAITING.iter().filter(move |index| {
            WAITS_FOR[*index as usize % THREADS_MAXIMUM].load(Relaxed) == instance.0
        })
    }

    /// Answers a stopped thread's call: it goes on behind the load.
    fn answer_not_ready(&self, index: u64) -> bool {
        let top = self.frames(index).next().filter(|frame| frame.kind == Kind::Trap);
        top.is_some_and(|frame| privileged::refuse(index, frame.offset()).is_ok())
    }

    fn resume(&self, index: u64) {
        let thread = imports::SCHEDULING.thread(index);
        let _ = thread.and_then(|thread| imports::CONTROL.resume(thread.name));
    }

    /// The first thread of an instance that does not serve yet, and the one that it waits for to serve: itself, or who has the lock that
    /// it waits for.
    fn first_waits(&self, instance: InstanceId) -> (Option<u64>, Option<InstanceId>) {
        let first = state(instance).first.load(Relaxed);
        if first == 0 {
            return (None, None);
        }
        let first = index_of_name(first);
        let mut index = first;
        for _ in 0..CHAIN_MAXIMUM {
            if WAITING.contains(index) {
                let on = WAITS_FOR[index as usize % THREADS_MAXIMUM].load(Relaxed);
                return (Some(first), Some(InstanceId(on)));
            }
            match self.wait_of(index) {
                Some((_, wait)) if wait.activity == Activity::Lock && wait.holder != index => {
                    index = wait.holder;
                }
                _ => break,
            }
        }
        (Some(first), None)
    }

    /// Whether an instance waits, over however many, for the one whose first thread this is; says so.
    fn closes_circle(&self, index: u64, on: InstanceId) -> bool {
        let own = |record: &&Instance| {
            let first = state(record.number).first.load(Relaxed);
            STARTING.contains(record.number.into()) && first != 0 && index_of_name(first) == index
        };
        let Some(own) = self.instances(0).find(own) else { return false };
        let mut circle = [InstanceId(0); CHAIN_MAXIMUM];
        let mut at = on;
        for length in 0..CHAIN_MAXIMUM {
            circle[length] = at;
            if at == own.number {
                let mut log = printer::log();
                let _ = write!(log, "supervisor: `{}` waits until ", self.name(own.number));
                for waits in &circle[..length] {
                    let _ = write!(log, "`{0}` serves, and `{0}` until ", self.name(*waits));
                }
                let _ = writeln!(log, "`{}` does: its call answers NotReady", self.name(at));
                return true;
            }
            match self.first_waits(at) {
                (_, Some(next)) if STARTING.contains(at.into()) => at = next,
                _ => return false,
            }
        }
        false
    }

    fn tell_late(&self, record: &Instance, on: Option<InstanceId>) {
        let mut log = printer::log();
        let name = self.name(record.number);
        let _ = write!(log, "supervisor: `{name}` has not said for 10 s that it serves");
        let _ = match on {
            Some(on) => writeln!(log, ": it waits for `{}`", self.name(on)),
            None => writeln!(log),
        };
        for index in self.waiting_for(record.number) {
            let home =
                imports::SCHEDULING.thread(index).map_or(InstanceId(0), |one| self.home(one));
            let _ = writeln!(log, "supervisor:   thread {index} of `{}` waits", self.name(home));
        }
    }

    /// The innermost call of a thread that has waited until its callee serves has its whole time from now on.
    fn excuse(&self, index: u64) {
        if let Some(limit) = self.frames(index).find_map(|frame| frame.limit) {
            runaway::excuse(index, limit);
        }
    }
}
