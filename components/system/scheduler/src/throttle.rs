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
//! comes free does not come to who cannot use it. What a domain that died had sent elsewhere comes home without a budget.
//!
//! Each look, and each thread that follows it, is an interrupt of its own.

use crate::bitmap::Bitmap;
use crate::locks::{HELD_MAXIMUM, LOCKS, LockIndex};
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, NONE, State, THROTTLED, Thread, ThreadIndex};
use crate::work::PACE;
use cairn_abi::{Error, InstanceId};

/// Most instances with a budget.
pub const BUDGETS: usize = cairn_abi::record::BUDGETS_MAXIMUM;

#[derive(Clone, Copy)]
struct Budget {
    /// In ticks; zero: there is none.
    period: u64,
    /// By the run clock, as what is spent of it.
    budget: u64,
    spent: u64,
    /// When the period ends, and when to look next.
    ends: u64,
    look: u64,
    threads: Bitmap<4>,
    is_used_up: bool,
    /// The instance has died: its threads come home.
    is_lifted: bool,
}

impl Budget {
    const NONE: Budget = Budget {
        period: 0,
        budget: 0,
        spent: 0,
        ends: 0,
        look: 0,
        threads: Bitmap::EMPTY,
        is_used_up: false,
        is_lifted: false,
    };

    fn throttles(&self) -> bool {
        self.is_used_up && !self.is_lifted
    }
}

/// The budgets, and what of them is still to be done.
pub(crate) struct Throttle {
    budgets: [Budget; BUDGETS],
    /// What each thread had run when that was counted last, and who pays for what it runs since.
    counted: [u64; 256],
    payers: [Tenant; 256],
    /// Threads that may have to be throttled, or to go on.
    behind: Bitmap<4>,
}

impl Throttle {
    pub(crate) const NONE: Throttle = Throttle {
        budgets: [Budget::NONE; BUDGETS],
        counted: [0; 256],
        payers: [Tenant::NOBODY; 256],
        behind: Bitmap::EMPTY,
    };

    /// When the timer has to come.
    fn next(&self) -> u64 {
        if !self.behind.is_empty() {
            return 0;
        }
        let present = self.budgets.iter().filter(|budget| budget.period != 0);
        present.map(|budget| budget.look).min().unwrap_or(u64::MAX)
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
        self.throttle.budgets[place] = Budget { period, budget, ..Budget::NONE };
        self.accounts[tenant].budget = place as u8 + 1;
        self.look_now();
        Ok(())
    }

    /// An instance is no more.
    pub(crate) fn drop_budget(&mut self, tenant: Tenant) {
        if let Some(budget) = self.budget_of(tenant) {
            *budget = Budget::NONE;
        }
    }

    /// The timer is to come at once.
    fn look_now(&mut self) {
        self.throttle_at = 0;
        self.arm_before(0);
    }

    /// The place of a budget.
    fn place_of(&self, tenant: Tenant) -> Option<usize> {
        usize::from(self.accounts[tenant].budget).checked_sub(1)
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
        if let Some(budget) = self.budget_of(home) {
            budget.threads.set(thread.into());
            if budget.is_used_up {
                self.follow_at_once(thread);
            }
        }
    }

    /// A thread of such an instance ends: making threads anew gives no more time.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_throttled(&mut self, thread: ThreadIndex) {
        self.count(thread);
        self.throttle.behind.clear(thread.into());
        if let Some(budget) = self.budget_of(self.homes[thread as usize]) {
            budget.threads.clear(thread.into());
        }
    }

    /// An instance has died, or starts again: until that its threads come home without a budget.
    #[inline(never)]
    pub(crate) fn lift_budget(&mut self, tenant: Tenant, is_lifted: bool) {
        if let Some(budget) = self.budget_of(tenant) {
            (budget.is_lifted, budget.look) = (is_lifted, 0);
            self.look_now();
        }
    }

    /// Another thread waits for a lock of one that is throttled.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow_at_once(&mut self, thread: ThreadIndex) {
        self.throttle.behind.set(thread.into());
        self.look_now();
    }

    /// The timer has come for a budget, and everyone's time is accounted.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_budgets(&mut self, time: u64) {
        if let Some(thread) = self.throttle.behind.first() {
            self.throttle.behind.clear(thread);
            self.follow_budget(thread as ThreadIndex, time);
        } else {
            let mut budgets = self.throttle.budgets.iter();
            if let Some(place) = budgets.position(|one| one.period != 0 && one.look <= time) {
                self.look_at_budget(place, time);
            }
        }
        self.throttle_at = self.throttle.next();
    }

    fn look_at_budget(&mut self, place: usize, time: u64) {
        for thread in self.throttle.budgets[place].threads.iter() {
            self.count(thread as ThreadIndex);
        }
        let budget = &mut self.throttle.budgets[place];
        if time >= budget.ends {
            let periods = (time - budget.ends) / budget.period + 1;
            budget.ends = budget.ends.saturating_add(periods.saturating_mul(budget.period));
            budget.spent = budget.spent.saturating_sub(periods.saturating_mul(budget.budget));
        }
        budget.is_used_up = budget.spent >= budget.budget;
        let left = budget.budget.saturating_sub(budget.spent);
        let rate = self.configuration.run_rate.max(1);
        budget.look = match budget.is_used_up {
            true => budget.ends,
            false => budget.ends.min(time.saturating_add(left.div_ceil(rate).max(1))),
        };
        let (throttles, threads) = (budget.throttles(), budget.threads);
        for thread in threads.iter() {
            let record = &self.threads[thread];
            // A throttled thread for which others wait may have to go on since these have time again.
            if throttles != (record.flags & THROTTLED != 0) || throttles && record.contended != NONE
            {
                self.throttle.behind.set(thread);
            }
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
    fn follow_budget(&mut self, thread: ThreadIndex, time: u64) {
        let home = self.homes[thread as usize];
        let throttles = self.budget_of(home).is_some_and(|budget| budget.throttles());
        let lender = if throttles { self.lender(thread, home) } else { None };
        self.count(thread);
        self.throttle.payers[thread as usize] = lender.unwrap_or(home);
        if lender.is_some() {
            let again = time.saturating_add(self.configuration.quantum / PACE).max(time + 1);
            if let Some(budget) = self.budget_of(home) {
                budget.look = budget.look.min(again);
            }
        }
        let record = &self.threads[thread as usize];
        let is_throttled = record.flags & THROTTLED != 0;
        if throttles && lender.is_none() && !is_throttled && record.exists() {
            if record.runnable() {
                self.unready(thread);
            }
            self.threads[thread as usize].flags |= THROTTLED;
            self.wait_anew(thread);
        } else if is_throttled && (!throttles || lender.is_some()) {
            self.threads[thread as usize].flags &= !THROTTLED;
            self.wait_anew(thread);
            if self.threads[thread as usize].runnable() {
                self.refresh_urgency(thread);
                self.ready.insert(&mut self.threads, thread);
            }
        }
    }

    /// Who pays for a thread whose own budget is used up, since another instance's thread waits for a lock that it has.
    fn lender(&self, thread: ThreadIndex, home: Tenant) -> Option<Tenant> {
        let mut lock = self.threads[thread as usize].held;
        for _ in 0..HELD_MAXIMUM {
            if lock == NONE {
                break;
            }
            let record = &self.locks[lock as usize % LOCKS];
            let waiter = self.homes[record.waiters as usize];
            let budget = self.place_of(waiter).and_then(|place| self.throttle.budgets.get(place));
            if record.waiters != IDLE && waiter != home && budget.is_none_or(|one| !one.is_used_up)
            {
                return Some(waiter);
            }
            lock = record.next_held;
        }
        None
    }

    /// A thread that is throttled, or not any more, waits where it belongs: behind all others, or as urgent as it is.
    fn wait_anew(&mut self, thread: ThreadIndex) {
        self.requeue(thread, |_| {});
        let Thread { state, object, .. } = self.threads[thread as usize];
        if state == State::Lock {
            self.mark_stale(object as LockIndex);
        }
    }
}
