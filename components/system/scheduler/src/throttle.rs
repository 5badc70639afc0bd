//! Processor budgets: an instance whose description gives it one runs at most so long in each period, all of its threads together,
//! wherever they are: a call runs on at the cost of the instance in which its thread began.
//!
//! Nothing is added where threads are switched. A thread's time is known at each interrupt of the timer, and a budget cannot end before
//! as much time has passed as is left of it. So each budget is *looked at* then, and at the end of its period. If it is used
//! up, its threads are *throttled*: ready or not, they do not run. What a budget is overrun by is taken from the next one.
//!
//! **Others do not wait for a budget.** A throttled thread goes on while a thread of another instance is the first that waits for a lock
//! which it has, and is looked at again in a while. Then that instance pays, if it has a budget; if that is used up, it is no
//! reason. So no accomplice helps to more time than is its own. In whatever queue a throttled thread waits, all others are before it: what
//! comes free does not come to who cannot use it. What a domain that died had sent elsewhere comes home without a budget, and so does a
//! thread whose way home others wait for ([`Scheduler::lift_budget`]): what it runs is taken from the next budgets all the same.
//!
//! Each look, at a few threads, and each thread that follows it, is an interrupt of the timer of its own, in turn with the time limits and
//! the work of others.
//! A look is as urgent as the instance's priority, and a thread that follows is as urgent as that or as what its locks lend it: while
//! a more urgent thread of another instance runs, both are put off, like other work ([`crate::work`]).

mod inherited;

use crate::bitmap::Bitmap;
use crate::classes::{self, ByClass};
use crate::locks::{LOCKS, LockIndex};
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{Handle, IDLE, NONE, State, THROTTLED, Thread, ThreadIndex};
use crate::time::passed;
use crate::work::PACE;
use cairn_abi::{Error, InstanceId};

/// Most instances with a budget.
pub const BUDGETS: usize = cairn_abi::record::BUDGETS_MAXIMUM;
/// Threads that one interrupt looks at for a budget: of all, interrupts would be off for too long.
const THREADS_OF_LOOK: usize = 2;
/// Quanta for which what was too much keeps an instance from running, or one period if that is longer. More than the budgets of those
/// is spent at once only where the machine itself stood still beneath a thread, by a debugger or by the host of an emulator.
const DEBT: u64 = 100;
/// When there is nothing to look at.
const NEVER: u64 = u64::MAX;

/// How far a look at a budget is, which is done with all of its threads before the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// What each of its threads has run is counted.
    Count,
    /// Those are found that have to stop, or to go on.
    Find,
}

#[derive(Clone, Copy)]
struct Budget {
    /// In ticks; zero: there is none.
    period: u64,
    /// By the run clock, as what is spent of it.
    budget: u64,
    spent: u64,
    /// What `spent` is at most when a period begins: see [`DEBT`].
    most: u64,
    /// When the period ends, when to look after this look, and when at the latest, since others pay.
    ends: u64,
    next: u64,
    again: u64,
    threads: Bitmap<4>,
    /// While it is looked at: how far that is, and the threads that are still to be seen.
    stage: Option<Stage>,
    unseen: Bitmap<4>,
    is_used_up: bool,
    /// The instance has died: its threads come home.
    is_lifted: bool,
}

impl Budget {
    const NONE: Budget = Budget {
        period: 0,
        budget: 0,
        spent: 0,
        most: 0,
        ends: 0,
        next: NEVER,
        again: NEVER,
        threads: Bitmap::EMPTY,
        stage: None,
        unseen: Bitmap::EMPTY,
        is_used_up: false,
        is_lifted: false,
    };

    fn throttles(&self) -> bool {
        self.is_used_up && !self.is_lifted
    }

    /// All that was spent is known: whether it is used up, and when that may change; a tick is `rate` of the run clock.
    fn decide(&mut self, time: u64, rate: u64) {
        if time >= self.ends {
            let periods = (time - self.ends) / self.period + 1;
            self.ends = self.ends.saturating_add(periods.saturating_mul(self.period));
            self.spent = self.spent.saturating_sub(periods.saturating_mul(self.budget));
            self.spent = self.spent.min(self.most);
        }
        self.is_used_up = self.spent >= self.budget;
        let left = self.budget.saturating_sub(self.spent);
        self.next = match self.is_used_up {
            true => self.ends,
            false => self.ends.min(time.saturating_add(left.div_ceil(rate).max(1))),
        };
    }
}

/// The budgets, and what of them is still to be done.
#[derive(Clone, Copy)]
pub(crate) struct Throttle {
    budgets: [Budget; BUDGETS],
    /// When to look at each; and its place, above it the class of the most urgent thread that its instance may have by itself. They lie
    /// together, since all are gone through.
    looks: [u64; BUDGETS],
    ranks: [u16; BUDGETS],
    /// What each thread had run when that was counted last, and who pays for what it runs since.
    counted: [u64; 256],
    payers: [Tenant; 256],
    /// Threads that may have to be throttled, or to go on.
    behind: ByClass,
    /// Threads that are not throttled, whatever their budget says.
    lifted: Bitmap<4>,
    /// Other work and limits have the next turn.
    yields: bool,
    /// What is due waits for a less urgent thread to run, at most until [`Throttle::forced_at`].
    is_put_off: bool,
    forced_at: u64,
}

/// What is to be done next, and of which class.
#[derive(Clone, Copy)]
enum Piece {
    Look(usize, u8),
    Follow(ThreadIndex, u8),
}

impl Throttle {
    pub(crate) const NONE: Throttle = Throttle {
        budgets: [Budget::NONE; BUDGETS],
        looks: [NEVER; BUDGETS],
        ranks: [0; BUDGETS],
        counted: [0; 256],
        payers: [Tenant::NOBODY; 256],
        behind: ByClass::EMPTY,
        lifted: Bitmap::EMPTY,
        yields: false,
        is_put_off: false,
        forced_at: 0,
    };

    fn class(&self, place: usize) -> u8 {
        (self.ranks[place] >> 8) as u8
    }

    /// The most urgent piece, while a thread `first` runs whose instance has the budget `own`, whether there are more, and when the next
    /// budget is due of those that are not. What is to be done with who runs, comes first.
    fn next(
        &self,
        first: ThreadIndex,
        own: Option<usize>,
        time: u64,
    ) -> (Option<Piece>, bool, u64) {
        let (mut best, mut due, mut later) = (u16::MAX, 0, NEVER);
        for (at, rank) in self.looks.iter().zip(&self.ranks) {
            if *at > time {
                later = later.min(*at);
            } else {
                due += 1;
                best = best.min(*rank);
            }
        }
        let look = match own.filter(|own| self.looks[*own] <= time) {
            Some(own) => Some(Piece::Look(own, 0)),
            None if due == 0 => None,
            None => Some(Piece::Look(usize::from(best as u8) % BUDGETS, (best >> 8) as u8)),
        };
        let classes = self.behind.classes();
        let follow = match classes & classes.wrapping_neg() {
            0 => None,
            _ if self.behind.contains(first) => Some(Piece::Follow(first, 0)),
            best => {
                let thread = self.behind.first_of(best);
                thread.map(|thread| Piece::Follow(thread, classes::least(best)))
            }
        };
        match (follow, look) {
            (Some(Piece::Follow(_, class)), Some(Piece::Look(_, other))) if other < class => {
                (look, true, later)
            }
            (None, _) => (look, due > 1, later),
            // Where there is no further thread either, the next interrupt finds that.
            _ => (follow, true, later),
        }
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Gives an instance without threads a budget for each period, both in ticks. [`Error::Exhausted`]: too many have one.
    pub fn set_budget(
        &mut self,
        instance: InstanceId,
        period: u64,
        budget: u64,
    ) -> Result<(), Error> {
        let tenant = Tenant::of(instance)?;
        if period == 0 {
            return Err(Error::BadArgument);
        }
        let mut places = self.throttle.budgets.iter();
        let place = places.position(|one| one.period == 0).ok_or(Error::Exhausted)?;
        let budget = budget.saturating_mul(self.configuration.run_rate);
        let owed = (DEBT * self.configuration.quantum / period).max(1);
        let most = budget.saturating_mul(owed);
        let class = self.ready.class_of_priority(self.accounts[tenant].quota.priority);
        self.throttle.budgets[place] = Budget { period, budget, most, ..Budget::NONE };
        self.throttle.ranks[place] = u16::from(class) << 8 | place as u16;
        self.throttle.looks[place] = 0;
        self.accounts[tenant].budget = place as u8 + 1;
        self.look_now();
        Ok(())
    }

    /// An instance is no more.
    pub(crate) fn drop_budget(&mut self, tenant: Tenant) {
        if let Some(place) = self.place_of(tenant) {
            self.throttle.budgets[place] = Budget::NONE;
            self.throttle.looks[place] = NEVER;
        }
    }

    /// The timer is to come at once.
    fn look_now(&mut self) {
        self.come_for_budgets(0);
        self.arm_before(0);
    }

    fn come_for_budgets(&mut self, time: u64) {
        (self.throttle_at, self.throttle_deferred_at) = (time, time);
    }

    /// The place of a budget.
    fn place_of(&self, tenant: Tenant) -> Option<usize> {
        usize::from(self.accounts[tenant].budget).checked_sub(1).map(|place| place % BUDGETS)
    }

    fn budget_of(&mut self, tenant: Tenant) -> Option<&mut Budget> {
        let place = self.place_of(tenant)?;
        self.throttle.budgets.get_mut(place)
    }

    /// A thread begins in an instance with a budget.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_throttled(&mut self, thread: ThreadIndex) {
        let home = self.homes[thread as usize];
        self.throttle.counted[thread as usize] = 0;
        self.throttle.payers[thread as usize] = home;
        let Some(place) = self.place_of(home) else { return };
        let budget = &mut self.throttle.budgets[place];
        budget.threads.set(thread.into());
        if budget.is_used_up {
            self.follow_at_once(thread, self.throttle.class(place));
        }
    }

    /// A thread of such an instance ends: making threads anew gives no more time.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_throttled(&mut self, thread: ThreadIndex) {
        self.count(thread);
        self.throttle.behind.clear(thread);
        self.throttle.lifted.clear(thread.into());
        if let Some(budget) = self.budget_of(self.homes[thread as usize]) {
            budget.threads.clear(thread.into());
            budget.unseen.clear(thread.into());
        }
    }

    /// An instance has died, or starts again: until that its threads come home without a budget.
    #[inline(never)]
    pub(crate) fn lift_budgets(&mut self, tenant: Tenant, is_lifted: bool) {
        if let Some(place) = self.place_of(tenant) {
            let budget = &mut self.throttle.budgets[place];
            (budget.is_lifted, budget.stage) = (is_lifted, None);
            self.throttle.looks[place] = 0;
            self.look_now();
        }
    }

    /// A thread is not throttled as long as others wait until it has come home. What it runs counts, and is paid for later.
    pub fn lift_budget(&mut self, target: Handle, is_lifted: bool) -> Result<(), Error> {
        let thread = self.existing(target)?;
        if self.place_of(self.homes[thread as usize]).is_some() {
            match is_lifted {
                true => self.throttle.lifted.set(thread.into()),
                false => self.throttle.lifted.clear(thread.into()),
            }
            let class = self.ready.class(self.due_urgency(thread));
            self.follow_at_once(thread, class);
        }
        Ok(())
    }

    /// Another thread, of this class, waits for a lock of one that is throttled.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow_at_once(&mut self, thread: ThreadIndex, class: u8) {
        self.throttle.behind.set(thread, class);
        self.look_now();
    }

    /// The timer has come for a budget, and everyone's time is accounted. False: others' limits and work have this turn.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_budgets(&mut self, time: u64) -> bool {
        if self.deferred && time < self.throttle_deferred_at {
            return false;
        }
        let is_forced = self.throttle.is_put_off && time >= self.throttle.forced_at;
        let yields = !is_forced && core::mem::take(&mut self.throttle.yields);
        let has_passed =
            self.timers != IDLE && self.threads[self.timers as usize].time_limit <= time;
        if yields && (self.left || has_passed) {
            return false;
        }
        let first = self.ready.first();
        let own = self.place_of(self.homes[first as usize]);
        let (piece, has_more, later) = self.throttle.next(first, own, time);
        let changed = match piece {
            Some(Piece::Look(_, class) | Piece::Follow(_, class))
                if !is_forced && self.outranks(first, class) =>
            {
                self.put_off_budgets(class, later, time);
                return true;
            }
            Some(Piece::Look(place, _)) => {
                self.look_at_budget(place, time);
                Some(place)
            }
            Some(Piece::Follow(thread, _)) => {
                self.throttle.behind.clear(thread);
                self.apply_budget(thread, time);
                self.place_of(self.homes[thread as usize])
            }
            None => None,
        };
        self.throttle.is_put_off = false;
        self.throttle.yields = true;
        let look = changed.map_or(NEVER, |place| self.throttle.looks[place]);
        let is_more = has_more || self.throttle.behind.classes() != 0;
        self.come_for_budgets(if is_more { 0 } else { later.min(look) });
        true
    }

    /// All that is due for budgets, of this class at most, waits until a less urgent thread can run, but for one piece in each part of a
    /// quantum; unless the limits and the work of others cannot wait, which come first then.
    fn put_off_budgets(&mut self, class: u8, later: u64, time: u64) {
        let due = passed(&self.threads, self.timers, time, Q::BUDGETS);
        let limit = if due != IDLE { self.threads[due as usize].limit_class } else { u8::MAX };
        let other = limit.min(if self.left { self.work_class } else { u8::MAX });
        if other < class && !self.outranks(self.ready.first(), other) {
            self.throttle.yields = true;
            return;
        }
        let before = if self.deferred { self.deferred_class } else { other };
        self.defer(class.min(before), time);
        if !self.throttle.is_put_off {
            self.throttle.is_put_off = true;
            self.throttle.forced_at = time.saturating_add(self.configuration.quantum / PACE);
        }
        // As soon as nothing is deferred any more it is due.
        self.throttle_at = 0;
        self.throttle_deferred_at = later.min(self.throttle.forced_at);
    }

    /// Looks at some of the threads of a budget, and says when to look next once all were seen.
    fn look_at_budget(&mut self, place: usize, time: u64) {
        let mut seen = 0;
        while seen < THREADS_OF_LOOK {
            let budget = &mut self.throttle.budgets[place];
            let thread = budget.unseen.first();
            if let Some(thread) = thread {
                budget.unseen.clear(thread);
                seen += 1;
            }
            match (budget.stage, thread) {
                (None, _) => {
                    (budget.stage, budget.unseen) = (Some(Stage::Count), budget.threads);
                    budget.again = NEVER;
                }
                (Some(Stage::Count), Some(thread)) => self.count(thread as ThreadIndex),
                (Some(Stage::Find), Some(thread)) => self.find_throttled(place, thread),
                (Some(Stage::Count), None) => {
                    (budget.stage, budget.unseen) = (Some(Stage::Find), budget.threads);
                    budget.decide(time, self.configuration.run_rate.max(1));
                }
                (Some(Stage::Find), None) => {
                    budget.stage = None;
                    self.throttle.looks[place] = budget.next.min(budget.again);
                    return;
                }
            }
        }
    }

    /// Has a thread throttled, or go on, if its budget says so.
    fn find_throttled(&mut self, place: usize, thread: usize) {
        let (budget, class) = (&self.throttle.budgets[place], self.throttle.class(place));
        let throttles = budget.throttles() && !self.throttle.lifted.contains(thread);
        let record = &self.threads[thread];
        if throttles && record.contended != NONE {
            // A throttled thread for which others wait may have to go on since these have time again.
            let due = self.ready.class(self.due_urgency(thread as ThreadIndex));
            self.throttle.behind.set(thread as ThreadIndex, class.min(due));
        } else if throttles != (record.flags & THROTTLED != 0)
            || self.throttle.payers[thread] != self.homes[thread]
        {
            // Nobody else pays for one that has a budget again.
            self.throttle.behind.set(thread as ThreadIndex, class);
        }
    }

    /// Whoever pays for a thread has spent what it ran.
    fn count(&mut self, thread: ThreadIndex) {
        let used = self.threads[thread as usize].used;
        let counted = core::mem::replace(&mut self.throttle.counted[thread as usize], used);
        let payer = self.throttle.payers[thread as usize];
        if let Some(budget) = self.budget_of(payer) {
            budget.spent = budget.spent.saturating_add(used.wrapping_sub(counted));
        }
    }

    /// Throttles a thread, or lets it go on, as its budget is.
    fn apply_budget(&mut self, thread: ThreadIndex, time: u64) {
        let home = self.homes[thread as usize];
        let throttles = self.budget_of(home).is_some_and(|budget| budget.throttles())
            && !self.throttle.lifted.contains(thread.into());
        let lender = if throttles { self.lender(thread, home) } else { None };
        self.count(thread);
        self.throttle.payers[thread as usize] = lender.unwrap_or(home);
        if lender.is_some() {
            let again = time.saturating_add(self.configuration.quantum / PACE).max(time + 1);
            if let Some(place) = self.place_of(home) {
                for look in
                    [&mut self.throttle.looks[place], &mut self.throttle.budgets[place].again]
                {
                    *look = (*look).min(again);
                }
            }
        }
        let record = &self.threads[thread as usize];
        let is_throttled = record.flags & THROTTLED != 0;
        if throttles && lender.is_none() && !is_throttled && record.exists() {
            if record.runnable() {
                self.unready(thread);
            }
            self.threads[thread as usize].flags |= THROTTLED;
            self.requeue_throttled(thread);
        } else if is_throttled && (!throttles || lender.is_some()) {
            self.threads[thread as usize].flags &= !THROTTLED;
            self.requeue_throttled(thread);
            if self.threads[thread as usize].runnable() {
                self.refresh_urgency(thread);
                self.ready.insert(&mut self.threads, thread);
            }
        }
    }

    /// Who pays for a thread whose own budget is used up, since a thread of another instance, or one that is to come home, waits for a
    /// lock that it has.
    fn lender(&self, thread: ThreadIndex, home: Tenant) -> Option<Tenant> {
        self.held_by(thread).find_map(|lock| {
            let waiter = self.homes[lock.waiters as usize];
            let budget = self.place_of(waiter).and_then(|place| self.throttle.budgets.get(place));
            let has_time = waiter != home && budget.is_none_or(|one| !one.is_used_up)
                || self.throttle.lifted.contains(lock.waiters.into());
            (lock.waiters != IDLE && has_time).then_some(waiter)
        })
    }

    /// A thread that is throttled, or not any more, waits where it belongs: behind all others, or as urgent as it is.
    fn requeue_throttled(&mut self, thread: ThreadIndex) {
        self.requeue(thread, |_| {});
        let Thread { state, object, .. } = self.threads[thread as usize];
        if state == State::Lock {
            self.mark_stale(object as LockIndex);
            let owner = self.locks[object as usize % LOCKS].owner;
            if self.threads[owner as usize].flags & THROTTLED != 0 {
                let class = self.ready.class(self.due_urgency(thread));
                self.follow_at_once(owner, class);
            }
        }
    }
}
