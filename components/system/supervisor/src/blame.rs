//! Calls threads home that do not come back to a dead instance, and finds who is at fault if they still do not.
//!
//! A thread that is called home is *watched*: the supervisor knows the innermost frame by which it comes back into a
//! living instance, and has the nucleus divert that frame, so that the thread faults when it comes back by it. Then
//! the supervisor lets it go on there, unnoticed, and watches the next frame. So it knows of each call
//! whether it is the one that the thread was in when it was called home, or was made since, whatever its callees
//! do: who returned is not blamed, and who calls on and on is.
//!
//! The waits of a thread that is called home are ended. Locks and stacks come back when other threads give them, so
//! waits for these last some times longer before they are ended, too; meanwhile the owner of a lock is called home itself.
//! The callee of the watched call is at fault if its thread has waited again for as long as
//! its time, or has run for as long. Looks tell: what lies before one counts if that finds the thread
//! waiting for an event. Who waits for the processor then, or for what others have, whatever keeps these, spends
//! nothing. A thread that has run between two looks may have waited for the processor there, too, so that of
//! its time at most a part is spent. The next callee, which learns only then that it is at fault itself, has a part of
//! the time.

use crate::component as imports;
use crate::lasting::lasting;
use crate::look::Undisturbed;
use crate::reason::Reason;
use crate::system::{System, state};
use cairn::time::{now, ticks};
use cairn::{DomainId, InstanceId, privileged};
use cairn_abi::thread::{FRAME_RETURN, THREADS_MAXIMUM, index_of_name};
use cairn_abi::upcall::{Access, Fault};
use cairn_interfaces::{Activity, ThreadState, Wait};
use cairn_portal::literal::{LITERAL_CANCELLED, LITERAL_RETURN};
use cairn_supervisor::instances::Threads;
use cairn_supervisor::stack::{Frame, Kind, Words};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU64, Ordering::Relaxed};

/// Who sent a thread into a callee and died gives the callee this time to finish undisturbed.
const UNDISTURBED_MICROSECONDS: u64 = 100_000;
/// Of the time that a callee has, the next one has this part.
const NEXT_PART: u64 = 8;
/// Of the time that a callee has, at most this part, or this long, is spent between two looks if its thread has run
/// meanwhile.
const SPENT_PART: u64 = 4;
const SPENT_MICROSECONDS: u64 = 10_000;
/// A thread that has run less than one part in so many of the time between two looks, and is ready, leaves the processor
/// to others by itself: of that time a part is spent.
const GIVEN_AWAY: u64 = 256;
const TURN_PART: u64 = 8;
/// For so many times as long as a callee has, its thread may wait for locks and stacks that others have.
pub const HELD_UP_TIMES: u64 = 4;
/// Owners of locks that are followed one from another. The scheduler knows no longer chain, and none that leads back;
/// but it may change while it is followed.
const CHAIN_MAXIMUM: usize = 8;

/// A thread that nobody called home for this time was not in anybody's way: it is called anew.
const FORGOTTEN_MICROSECONDS: u64 = 1_000_000;

/// A thread that was called home.
struct Called {
    /// Its name; zero: nobody.
    name: AtomicU64,
    /// What its callee has of its time, and what of that is left; how long it may still wait for what others have;
    /// whether a wait was ended since that was given, and what the thread had run by then.
    given: AtomicU64,
    left: AtomicU64,
    held_up: AtomicU64,
    is_told: AtomicBool,
    used: AtomicU64,
    /// When it was looked at last, and what it had run then.
    looked: AtomicU64,
    had_run: AtomicU64,
    /// The watched frame, by its offset in the thread's block; zero: none.
    watched: AtomicU16,
    /// The domain into which the watched frame returns, and when that began to live: a later call at the same place is
    /// another.
    into: AtomicU16,
    began: AtomicU64,
    /// The name of the thread that its own component calls home.
    asked: AtomicU64,
}

impl Called {
    const fn nobody() -> Called {
        Called {
            name: AtomicU64::new(0),
            given: AtomicU64::new(0),
            left: AtomicU64::new(0),
            held_up: AtomicU64::new(0),
            is_told: AtomicBool::new(false),
            used: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            had_run: AtomicU64::new(0),
            watched: AtomicU16::new(0),
            into: AtomicU16::new(0),
            began: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        }
    }
}

/// What a successor has to know.
pub struct Lasting {
    called: [Called; THREADS_MAXIMUM],
    /// Threads that their own components call home, the best of their priorities, when to look at them next, and
    /// where that look is.
    asked: Threads,
    asked_priority: AtomicU8,
    asked_look: AtomicU64,
    asked_cursor: AtomicU64,
    /// Those that go on without a processor budget.
    lifted: Threads,
}

impl Lasting {
    /// Nobody is called home.
    pub const fn none() -> Lasting {
        Lasting {
            called: [const { Called::nobody() }; THREADS_MAXIMUM],
            asked: Threads::new(),
            asked_priority: AtomicU8::new(0),
            asked_look: AtomicU64::new(0),
            asked_cursor: AtomicU64::new(0),
            lifted: Threads::new(),
        }
    }
}

static LASTING: &Lasting = &lasting().called_home;

fn called(index: u64) -> &'static Called {
    &LASTING.called[index as usize % THREADS_MAXIMUM]
}

/// Between two looks.
const ASKED_LOOK_MICROSECONDS: u64 = 10_000;

/// A thread's own component wants it to come home.
pub fn ask_home(name: u64, priority: u8) {
    let index = index_of_name(name);
    called(index).asked.store(name, Relaxed);
    LASTING.asked_look.store(0, Relaxed);
    LASTING.asked.insert(index);
    LASTING.asked_priority.fetch_max(priority, Relaxed);
}

/// When the next look at such threads is due, and its priority.
pub fn next_home() -> (u64, u8) {
    match LASTING.asked.next(0) {
        Some(_) => (LASTING.asked_look.load(Relaxed), LASTING.asked_priority.load(Relaxed)),
        None => {
            LASTING.asked_priority.store(0, Relaxed);
            (u64::MAX, 0)
        }
    }
}

/// What a thread has run, in ticks.
pub fn used(index: u64) -> u64 {
    imports::SCHEDULING.thread_time(index).unwrap_or(0)
}

/// Whether a thread waits for a lock or a stack, which others have.
pub fn is_held_up(wait: &Wait) -> bool {
    matches!(wait.activity, Activity::Lock | Activity::Stack)
}

impl System {
    /// Looks at the next thread that its own component calls home.
    pub fn call_next_home(&self) {
        let Some(index) = LASTING.asked.next(LASTING.asked_cursor.load(Relaxed)) else {
            LASTING.asked_cursor.store(0, Relaxed);
            LASTING.asked_look.store(now() + ticks(ASKED_LOOK_MICROSECONDS), Relaxed);
            return;
        };
        LASTING.asked_cursor.store(index + 1, Relaxed);
        let undisturbed = Undisturbed::begin();
        let is_abroad = self.is_abroad(index);
        let is_home = !is_abroad && undisturbed.holds();
        let asked = called(index).asked.load(Relaxed);
        if is_home || imports::SCHEDULING.thread(index).is_ok_and(|thread| thread.name != asked) {
            LASTING.asked.remove(index);
        } else if is_abroad {
            self.call_home(index);
        }
    }

    /// Whether the callees of a dead instance have had their time to finish.
    pub fn is_late(&self, instance: InstanceId) -> bool {
        now() >= state(instance).died.load(Relaxed) + ticks(UNDISTURBED_MICROSECONDS)
    }

    /// The call whose callee keeps a called thread: the watched one, or if that is a wait in the scheduler, the one
    /// in which the thread waits.
    fn keeping(&self, index: u64) -> Option<Frame> {
        let watched = u64::from(called(index).watched.load(Relaxed));
        let mut calls = self
            .frames(index)
            .skip_while(move |frame| frame.offset() != watched)
            .filter(|frame| matches!(frame.kind, Kind::Call { .. }));
        let waits = |frame: &Frame| match frame.kind {
            Kind::Call { callee } => Some(callee) == self.scheduler(),
            _ => false,
        };
        calls.find(|frame| !waits(frame))
    }

    /// How long the callee that keeps a called thread may do so, in ticks.
    fn patience(&self, index: u64) -> u64 {
        let declared =
            self.keeping(index).and_then(|call| self.literal_of(call, LITERAL_CANCELLED));
        declared
            .filter(|time| *time != 0)
            .unwrap_or_else(|| ticks(self.header.cancelled_for.div_ceil(1000)))
    }

    /// Whether a thread is in a call, other than a wait in the scheduler.
    fn is_abroad(&self, index: u64) -> bool {
        self.frames(index).any(|frame| match frame.kind {
            Kind::Call { callee } => Some(callee) != self.scheduler(),
            _ => false,
        })
    }

    /// Calls a thread home, with whoever keeps it from coming; blames who keeps it for too long.
    pub fn call_home(&self, index: u64) {
        self.call_home_from(index, self.is_abroad(index));
    }

    /// A thread goes on without its processor budget, on its way home, or has one again.
    pub fn lift_budget(&self, index: u64, is_lifted: bool) {
        if is_lifted || LASTING.lifted.contains(index) {
            LASTING.lifted.remove(index);
            let thread = imports::SCHEDULING.thread(index);
            let lifted =
                thread.and_then(|thread| imports::CONTROL.lift_budget(thread.name, is_lifted));
            if is_lifted && lifted.is_ok() {
                LASTING.lifted.insert(index);
            }
        }
    }

    /// Calls the owner home of the lock that a thread waits for.
    pub fn call_owner_home(&self, index: u64, wait: &Wait) {
        if let Some((owner, is_away)) = self.owner(index, wait) {
            self.call_home_from(owner, is_away);
        }
    }

    /// `is_away`: what others want of the thread, it got in a call that it is still in.
    fn call_home_from(&self, index: u64, is_away: bool) {
        let mut next = Some((index, is_away));
        for _ in 0..CHAIN_MAXIMUM {
            let Some((index, is_away)) = next else { return };
            next = self.press(index, is_away);
        }
    }

    /// Calls one thread home. Who has the lock that it waits for, and whether he got it in a call that he is still in. If
    /// a thread that `is_away` had come all the way home before, that is another call.
    fn press(&self, index: u64, is_away: bool) -> Option<(u64, bool)> {
        if self.cancel_wait_for_ready(index) {
            return None;
        }
        let (name, wait) = self.wait_of(index)?;
        let called = called(index);
        let used = used(index);
        let had_used = called.had_run.swap(used, Relaxed);
        let had_run = had_used != used;
        let time = now();
        let looked = called.looked.swap(time, Relaxed);
        let passed = time - looked;
        let is_forgotten = passed > ticks(FORGOTTEN_MICROSECONDS);
        let is_home = called.watched.load(Relaxed) == 0;
        if called.name.load(Relaxed) != name
            || is_forgotten
            || (is_home && is_away)
            || !self.is_watched(index)
        {
            self.call(index, name, 1);
            return None;
        }
        let held_up = called.held_up.load(Relaxed);
        if is_held_up(&wait) && held_up != 0 {
            let spent = match self.does_owner_starve(index, &wait, looked) {
                true => 0,
                // Who is seen for the first time may lack the processor, too.
                false => passed.min(called.given.load(Relaxed)),
            };
            called.held_up.store(held_up.saturating_sub(spent), Relaxed);
            if held_up <= spent {
                // From here on it is told as if it waited for an event.
                called.is_told.store(false, Relaxed);
            }
            return self.owner(index, &wait);
        }
        match wait.activity {
            // It has got the processor, and given nearly all of its turns away.
            Activity::Ready if had_run && used.saturating_sub(had_used) * GIVEN_AWAY < passed => {
                self.spend(index, passed / TURN_PART, false);
            }
            Activity::Ready => {
                if used.saturating_sub(called.used.load(Relaxed)) > self.patience(index) {
                    self.blame(index);
                }
            }
            _ if !called.is_told.load(Relaxed) => {
                if imports::CONTROL.stop(name).is_ok() {
                    called.is_told.store(self.end_wait(index, name), Relaxed);
                    let _ = imports::CONTROL.resume(name);
                }
            }
            _ => self.spend(index, passed, had_run),
        }
        None
    }

    /// Whether the lock that a thread waits for comes back as soon as its owner has the processor: more urgent threads leave him none. He
    /// was looked at at `since`, or later, and has not run from then on. Such a wait is no longer than a wait for the processor, and
    /// ending it would end a callee that has no way to do without the lock: that of its heap.
    pub fn does_owner_starve(&self, index: u64, wait: &Wait, since: u64) -> bool {
        let mut next = self.owner(index, wait);
        for _ in 0..CHAIN_MAXIMUM {
            let Some((owner, _)) = next else { return false };
            let Some((name, wait)) = self.wait_of(owner) else { return false };
            if wait.activity == Activity::Ready {
                let called = called(owner);
                return called.name.load(Relaxed) == name
                    && called.looked.load(Relaxed) >= since
                    && called.had_run.load(Relaxed) == used(owner);
            }
            next = self.owner(owner, &wait);
        }
        false
    }

    /// A thread's name, and what it waits for.
    pub fn wait_of(&self, index: u64) -> Option<(u64, Wait)> {
        let ThreadState { name, .. } = imports::SCHEDULING.thread(index).ok()?;
        Some((name, imports::CONTROL.waits_for(name).ok()?))
    }

    /// The owner of the lock that a thread waits for.
    fn owner(&self, index: u64, wait: &Wait) -> Option<(u64, bool)> {
        let owner = wait.holder;
        if wait.activity != Activity::Lock || owner == index || !self.exists(owner) {
            return None;
        }
        // A thread that is in a call of the instance where the lock is waited for took it there.
        let place = self.instance(wait.instance);
        let is_in = |frame: Frame| match frame.kind {
            Kind::Call { callee } => place.is_some_and(|record| record.domain == callee),
            _ => false,
        };
        Some((owner, self.frames(owner).any(is_in)))
    }

    /// A called thread is found waiting again: of its callee's time, what passed since the last look is spent. Who
    /// has none left is at fault.
    fn spend(&self, index: u64, passed: u64, had_run: bool) {
        let called = called(index);
        let spent = match had_run {
            true => {
                passed.min((called.given.load(Relaxed) / SPENT_PART).max(ticks(SPENT_MICROSECONDS)))
            }
            false => passed,
        };
        let left = called.left.load(Relaxed).saturating_sub(spent);
        called.left.store(left, Relaxed);
        if left == 0 {
            self.blame(index);
        }
    }

    /// Watches the thread's innermost call, and ends its wait, if not for what others have; the callee has one of
    /// `parts` of its time.
    fn call(&self, index: u64, name: u64, parts: u64) {
        // If it cannot be stopped it has faulted, and is called when that is settled.
        if imports::CONTROL.stop(name).is_ok() {
            let called = called(index);
            called.name.store(name, Relaxed);
            self.watch(index);
            let given = self.patience(index) / parts;
            called.given.store(given, Relaxed);
            called.left.store(given, Relaxed);
            called.held_up.store(given * HELD_UP_TIMES, Relaxed);
            called.used.store(used(index), Relaxed);
            let is_event = imports::CONTROL.waits_for(name).is_ok_and(|wait| !is_held_up(&wait));
            called.is_told.store(is_event && self.end_wait(index, name), Relaxed);
            let _ = imports::CONTROL.resume(name);
        }
    }

    /// Ends the wait of a stopped thread: what it called answers `Cancelled`. Whether it waited.
    pub fn end_wait(&self, index: u64, name: u64) -> bool {
        let wait = imports::CONTROL.waits_for(name);
        let has_waited = imports::CONTROL.cancel_wait(name) == Ok(true);
        if has_waited && wait.is_ok_and(|wait| wait.activity == Activity::Stack) {
            // It stands at its call, which would only begin anew.
            let top = self.frames(index).next();
            let _ = top.map(|top| privileged::refuse(index, top.offset()));
        }
        has_waited
    }

    /// A literal of the return portal of a call.
    fn literal_of(&self, frame: Frame, literal: i64) -> Option<u64> {
        let mut back = self.load(frame.header.wrapping_add_signed(FRAME_RETURN))?;
        if frame.dead {
            // The dead entry names its portal.
            back = self.load(back.wrapping_add_signed(LITERAL_RETURN))?;
        }
        self.load(back.wrapping_add_signed(literal))
    }

    /// Watches the innermost call of a stopped thread that no essential component made: a fault of these halts the
    /// machine, and none is ever blamed. A frame that returns into a dead domain needs no diversion: nobody calls from
    /// there any more.
    fn watch(&self, index: u64) {
        let called = called(index);
        let mut frames = self.frames(index).skip_while(|frame| {
            !matches!(frame.kind, Kind::Call { .. }) || self.is_essential(self.lives_in(frame.into))
        });
        let found = frames.next();
        called.watched.store(found.map_or(0, |frame| frame.offset() as u16), Relaxed);
        called.into.store(found.map_or(0, |frame| frame.into.0), Relaxed);
        called.began.store(found.map_or(0, |frame| self.began(frame)), Relaxed);
        let lives = |frame: &Frame| !frame.dead && state(self.lives_in(frame.into)).is_alive();
        if let Some(frame) = found.filter(lives) {
            // Refused: it is diverted already, or its caller made the call with an address that faults anyway.
            let _ = privileged::divert(index, frame.offset());
        }
    }

    /// When the instance began to live into which a frame returns.
    fn began(&self, frame: Frame) -> u64 {
        state(self.lives_in(frame.into)).started.load(Relaxed)
    }

    /// Whether the watched frame is still there. It can go unseen only by the death of who made that call, who makes none
    /// at the same place before another life.
    fn is_watched(&self, index: u64) -> bool {
        let called = called(index);
        let watched = u64::from(called.watched.load(Relaxed));
        let is_it = |frame: Frame| {
            frame.offset() == watched
                && frame.into.0 == called.into.load(Relaxed)
                && self.began(frame) == called.began.load(Relaxed)
        };
        watched == 0 || self.frames(index).any(is_it)
    }

    /// Whether a fault is that of a diverted thread which came back: then it is watched further down, and can go on. One that
    /// was called home and goes to such an address by itself goes on at that of its own domain, and has no more time.
    pub fn came_home(&self, name: u64, frame: Frame, fault: Fault) -> bool {
        let index = index_of_name(name);
        let called = called(index);
        let is_diverted =
            matches!(fault, Fault::Denied(Access::Execute, _)) && called.name.load(Relaxed) == name;
        if is_diverted && privileged::divert(index, frame.offset()).is_ok() {
            self.watch(index);
            if called.watched.load(Relaxed) == 0 {
                // All the way: what it calls from now on is not what it was to leave.
                LASTING.asked.remove(index);
            }
            return true;
        }
        false
    }

    /// Whom a thread of the supervisor's own has called dies. That call cannot be watched: its caller is essential.
    pub fn blame_callee(&self, index: u64) {
        let calls = self.frames(index).filter_map(|frame| match frame.kind {
            Kind::Call { callee } => Some(self.lives_in(callee)),
            _ => None,
        });
        let Some(culprit) = calls.last().filter(|culprit| !self.is_essential(*culprit)) else {
            return;
        };
        if state(culprit).is_alive() {
            self.die(culprit, Reason::Kept { thread: index });
        }
    }

    /// The callee that keeps a called thread dies.
    fn blame(&self, index: u64) {
        let domain = match self.keeping(index).map(|call| call.kind) {
            Some(Kind::Call { callee }) => callee,
            // It has come home in its own domain, and still holds what others wait for.
            _ => self.frames(index).last().map_or(DomainId(0), |frame| frame.into),
        };
        let culprit = self.lives_in(domain);
        if self.is_essential(culprit) {
            return;
        }
        if state(culprit).is_alive() {
            self.die(culprit, Reason::Kept { thread: index });
        }
        // Whom it called meanwhile is innocent, and whoever is next learns of it now.
        self.call(index, called(index).name.load(Relaxed), NEXT_PART);
    }
}
