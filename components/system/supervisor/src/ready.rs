//! Instances that start and do not serve yet, and the threads that wait until they do.
//!
//! Nothing on the way of a call asks. The component itself does (`lib/cairn/src/ready.rs`): a call that comes too early reads a
//! word of a page that is not mapped, and faults; it stays stopped until the component reads another word there, which says that it
//! serves. A thread that is to leave before goes on behind that load, and its call answers `NotReady`.
//!
//! A first thread that waits for an instance whose own first thread waits for it, over however many, would do so for ever: the call of whoever
//! came last is answered at once. Others' locks may close such a circle later, so it is looked for now and then.

use crate::component as imports;
use crate::lasting::lasting;
use crate::printer;
use crate::runaway;
use crate::system::{STANDING, System, state};
use cairn::time::{now, ticks};
use cairn::{InstanceId, privileged};
use cairn_abi::address::{READY_OFFSET, READY_SAID};
use cairn_abi::record::Instance;
use cairn_abi::thread::index_of_name;
use cairn_abi::upcall::{Access, Fault};
use cairn_interfaces::Activity;
use cairn_supervisor::instances::Numbers;
use cairn_supervisor::stack::{Frame, Kind};
use cairn_supervisor::standing::Until;
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The priority of looking whether instances wait for each other: all others but the idle thread are more urgent.
pub const PRIORITY: u8 = 1;
/// Between two looks, and when it is said who does not serve yet.
const LOOK_MICROSECONDS: u64 = 100_000;
const LATE_MICROSECONDS: u64 = 10_000_000;
/// Owners of locks and instances that wait for each other which are followed one from another.
const CHAIN_MAXIMUM: usize = 8;
/// Threads that a report names.
const THREADS_TOLD: usize = 4;

/// What a successor has to know.
pub struct Lasting {
    /// Those that do not serve yet, and in this life the ones of which it was said that they are late, or that they close a circle.
    starting: Numbers,
    late_told: Numbers,
    circle_told: Numbers,
    /// When the first of them was seen: those of the layout have no other start.
    began: AtomicU64,
    /// When to look next, and at the next instance from which number on.
    next: AtomicU64,
    cursor: AtomicU64,
}

impl Lasting {
    /// All serve.
    pub const fn none() -> Lasting {
        Lasting {
            starting: Numbers::new(),
            late_told: Numbers::new(),
            circle_told: Numbers::new(),
            began: AtomicU64::new(0),
            next: AtomicU64::new(0),
            cursor: AtomicU64::new(0),
        }
    }
}

static LASTING: &Lasting = &lasting().starting;

/// No instance is known yet.
pub fn begin() {
    LASTING.next.store(u64::MAX, Relaxed);
}

/// When to look next, for the worker.
pub fn next_look() -> u64 {
    LASTING.next.load(Relaxed)
}

/// Whether an instance lives and does not serve yet.
pub fn is_starting(instance: InstanceId) -> bool {
    LASTING.starting.contains(instance.into())
}

/// What a thread reads in the page by which an instance says that it serves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// It serves, says its first thread.
    Ready,
    /// Whether it does.
    Query,
}

impl System {
    /// An instance begins to live, whose first thread has this name, if it has one.
    pub fn starts(&self, record: &Instance, first: Option<u64>) {
        state(record.number).first.store(first.unwrap_or(0), Relaxed);
        if record.callers_wait != 0 {
            LASTING.starting.insert(record.number.into());
            LASTING.late_told.remove(record.number.into());
            LASTING.circle_told.remove(record.number.into());
            let _ = LASTING.began.compare_exchange(0, now(), Relaxed, Relaxed);
            LASTING.next.fetch_min(now() + ticks(LOOK_MICROSECONDS), Relaxed);
        }
    }

    /// Of which instance of the domain that a thread was in when it faulted it asked something.
    pub fn asks(&self, frame: Frame, fault: Fault) -> Option<(&'static Instance, Asks)> {
        let Fault::Denied(Access::Read, address) = fault else { return None };
        let leader = self.instance(self.lives_in(frame.into))?;
        self.fellows(leader).find_map(|record| {
            let asks = match address.wrapping_sub(record.start_address + READY_OFFSET) {
                0 => Asks::Query,
                READY_SAID => Asks::Ready,
                _ => return None,
            };
            LASTING.starting.contains(record.number.into()).then_some((record, asks))
        })
    }

    /// An instance serves from now on: who waits for it goes on.
    pub fn serves(&self, record: &'static Instance) {
        if !LASTING.starting.contains(record.number.into()) {
            return;
        }
        LASTING.starting.remove(record.number.into());
        self.expect("open", record, imports::MEMORY.serves(record.number));
        state(record.leader).needed.store(now(), Relaxed);
        STANDING.let_go(Until::Serves, record.number);
    }

    /// A stopped thread stands still until something happens to an instance.
    pub fn stand(&self, until: Until, index: u64, instance: InstanceId) {
        let priority = imports::SCHEDULING.thread(index).map_or(0, |thread| thread.priority);
        STANDING.insert(until, index, instance, priority);
    }

    /// A stopped thread waits until an instance serves, unless that waits for the thread; whether it does.
    pub fn await_ready(&self, index: u64, record: &'static Instance) -> bool {
        if self.closes_circle(index, record.number) {
            let _ = self.answer_not_ready(index);
            return false;
        }
        self.stand(Until::Serves, index, record.number);
        true
    }

    /// An instance dies: nobody waits for it any more, and its first thread for nobody.
    pub fn cancel_start(&self, leader: &'static Instance) {
        for record in self.fellows(leader) {
            LASTING.starting.remove(record.number.into());
            STANDING.let_go(Until::Serves, record.number);
        }
    }

    /// A thread that waits until an instance serves is called home: its call answers `NotReady`. Whether it was one.
    pub fn cancel_wait_for_ready(&self, index: u64) -> bool {
        let waits = STANDING.waits_for(index).is_some() && self.answer_not_ready(index);
        if waits {
            STANDING.let_one_go(index);
        }
        waits
    }

    /// The most urgent thread that stood still and may go on goes on: where it stands, or with an error if that is dead.
    pub fn go_on(&self) {
        let Some((index, instance)) = STANDING.take() else { return };
        let Some(record) = self.instance(instance) else { return };
        if self.comes_too_early(index, record.leader) {
            // It ends once more.
            return self.stand(Until::Lives, index, record.leader);
        }
        match state(record.leader).is_alive() {
            true => self.excuse(index),
            false => _ = self.unwind(record.domain, index),
        }
        let thread = imports::SCHEDULING.thread(index);
        let _ = thread.and_then(|thread| imports::CONTROL.resume(thread.name));
    }

    /// Looks whether the next of those that do not serve yet waits for itself, and says if it has not served for long.
    pub fn look_at_starting(&self) {
        let Some(number) = LASTING.starting.next(LASTING.cursor.load(Relaxed)) else {
            LASTING.cursor.store(0, Relaxed);
            let has_more = LASTING.starting.next(0).is_some();
            let next = if has_more { now() + ticks(LOOK_MICROSECONDS) } else { u64::MAX };
            return LASTING.next.store(next, Relaxed);
        };
        LASTING.cursor.store(number + 1, Relaxed);
        let Some(record) = self.instance(InstanceId(number as u16)) else { return };
        let (first, on) = self.first_waits(record.number, &mut 0);
        if let (Some(first), Some(on)) = (first, on)
            && STANDING.waits_for(first).is_some()
            && self.closes_circle(first, on)
        {
            self.cancel_wait_for_ready(first);
        }
        let since = state(record.leader).started.load(Relaxed).max(LASTING.began.load(Relaxed));
        if now().saturating_sub(since) > ticks(LATE_MICROSECONDS)
            && !LASTING.late_told.contains(number)
        {
            LASTING.late_told.insert(number);
            self.tell_late(record, on);
        }
    }

    /// Answers a stopped thread's call: it goes on behind the load.
    fn answer_not_ready(&self, index: u64) -> bool {
        let top = self.frames(index).next().filter(|frame| frame.kind == Kind::Trap);
        top.is_some_and(|frame| privileged::refuse(index, frame.offset()).is_ok())
    }

    /// The first thread of an instance that does not serve yet, and the one that it waits for to serve: itself, or who has the lock that
    /// it waits for. `followed`: how many owners of locks and instances were followed.
    fn first_waits(
        &self,
        instance: InstanceId,
        followed: &mut usize,
    ) -> (Option<u64>, Option<InstanceId>) {
        let first = state(instance).first.load(Relaxed);
        if first == 0 {
            return (None, None);
        }
        let first = index_of_name(first);
        let mut index = first;
        while *followed < CHAIN_MAXIMUM {
            *followed += 1;
            if let Some(on) = STANDING.waits_for(index) {
                return (Some(first), Some(on));
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

    /// Whether an instance waits, over however many, for the one whose first thread this is; says so, once in the life of that.
    fn closes_circle(&self, index: u64, on: InstanceId) -> bool {
        let Ok(thread) = imports::SCHEDULING.thread(index) else { return false };
        let own = self.home(thread);
        if !LASTING.starting.contains(own.into()) || state(own).first.load(Relaxed) != thread.name {
            return false;
        }
        let mut circle = [on; CHAIN_MAXIMUM + 1];
        let (mut length, mut followed) = (0, 0);
        while circle[length] != own {
            match self.first_waits(circle[length], &mut followed) {
                (_, Some(next)) if LASTING.starting.contains(circle[length].into()) => {
                    length += 1;
                    circle[length] = next;
                }
                _ => return false,
            }
        }
        if !LASTING.circle_told.contains(own.into()) {
            LASTING.circle_told.insert(own.into());
            let mut log = printer::log();
            let _ = write!(log, "supervisor: `{}` waits until ", self.name(own));
            for waits in &circle[..length] {
                let _ = write!(log, "`{0}` serves, and `{0}` until ", self.name(*waits));
            }
            let _ = writeln!(log, "`{}` does: its call answers NotReady", self.name(own));
        }
        true
    }

    fn tell_late(&self, record: &Instance, on: Option<InstanceId>) {
        let mut log = printer::log();
        let name = self.name(record.number);
        let _ = write!(log, "supervisor: `{name}` has not said for 10 s that it serves");
        let _ = match on {
            Some(on) => writeln!(log, ": it waits for `{}`", self.name(on)),
            None => writeln!(log),
        };
        let mut waiting = STANDING.of(Until::Serves, record.number);
        for index in waiting.by_ref().take(THREADS_TOLD) {
            let home =
                imports::SCHEDULING.thread(index).map_or(InstanceId(0), |one| self.home(one));
            let _ = writeln!(log, "supervisor:   thread {index} of `{}` waits", self.name(home));
        }
        match waiting.count() {
            0 => {}
            more => _ = writeln!(log, "supervisor:   and {more} more"),
        }
    }

    /// The innermost call of a thread that has waited until its callee serves has its whole time from now on.
    fn excuse(&self, index: u64) {
        if let Some(limit) = self.frames_with_limits(index).find_map(|frame| frame.limit) {
            runaway::excuse(index, limit);
        }
    }
}
