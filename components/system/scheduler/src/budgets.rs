//! Budgets of time: what the core does for a policy that has them ([`ReadyQueue::BUDGETS`]).
//!
//! Time is charged to the running thread, or, while that counts with the urgency of another, to *whose urgency it is*: the
//! thread at the end of the way through the locks that lend it. So what is done at an urgency is always bounded by the
//! budget that belongs to it. Who that is, is looked for at interrupts of the timer of their own, so that no operation
//! gets longer; until then, which is a few instructions, the running thread pays itself.

use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, NONE, Thread, ThreadIndex};

/// Most locks that one interrupt follows to a payer.
const FOLLOWED_MAXIMUM: usize = 4;

/// The thread at the end of the way through the locks that lend a thread its urgency, as far as that was followed.
#[derive(Clone, Copy)]
pub(crate) struct Payer {
    /// [`IDLE`]: of none.
    pub(crate) of: ThreadIndex,
    thread: ThreadIndex,
}

impl Payer {
    pub(crate) const UNKNOWN: Payer = Payer { of: IDLE, thread: IDLE };
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Whether others are ready, or wait for locks of `first`: these pay for it when its own budget is used up, also while nobody else could run.
    #[inline(always)]
    fn has_company(&self, first: ThreadIndex) -> bool {
        self.ready.shares(&self.threads) || self.threads[first as usize].contended != NONE
    }

    /// When a budget changes something next, if `first` runs. While only one thread is ready, nobody waits for a lock of it, and it pays for
    /// itself, nothing is marked: nobody is kept from running.
    #[inline(always)]
    fn find_next_mark(&mut self, first: ThreadIndex, time: u64) {
        self.next_tick = match self.payer_of(first) {
            None => time,
            Some(payer) if payer != first || self.has_company(first) => {
                self.ready.next_change(&self.threads, payer, time)
            }
            Some(_) => 0,
        };
    }

    /// Has the timer come for that. If work is left, it comes at once, and marks when that is done.
    #[inline(always)]
    pub(crate) fn mark_budgets(&mut self, first: ThreadIndex, now: u64) {
        if self.left {
            return;
        }
        self.find_next_mark(first, self.machine.time(now));
        if self.next_tick != 0 {
            self.arm_before(self.next_tick);
        }
    }

    /// Ends the timer's interrupt, which came for work if `works`, for a budget if `changes`. All is accounted until `time`, and
    /// the timer is set here; but after work it comes at once, for the marks: a piece of work is long enough.
    #[inline(always)]
    pub(crate) fn end_tick(
        &mut self,
        thread: ThreadIndex,
        works: bool,
        changes: bool,
        time: u64,
    ) -> M::Outcome {
        if changes {
            self.change_budgets(time);
        } else {
            self.payer = Payer::UNKNOWN;
        }
        let first = self.ready.first();
        if !works {
            self.find_next_mark(first, time);
            self.arm(time);
        }
        self.led_to = first;
        if first == thread {
            return self.machine.reply(0, 0);
        }
        self.set_result(thread, 0, 0);
        let Thread { status, value, .. } = self.threads[first as usize];
        self.machine.switch(first, status.into(), value)
    }

    /// [`Scheduler::settle`] on a hot path.
    #[inline(never)]
    pub(crate) fn settle_aside(&mut self, thread: ThreadIndex) {
        self.settle(thread);
    }

    /// The timer has come for a budget, and everyone's time is accounted: one thread moves.
    #[inline(never)]
    pub(crate) fn change_budgets(&mut self, time: u64) {
        let first = self.ready.first();
        if first == IDLE {
            return;
        }
        let thread = match self.ready.next_to_refill(time) {
            IDLE => first,
            refilled => refilled,
        };
        let Some(payer) = self.payer_of(thread) else {
            return self.find_payer(thread, time);
        };
        // Who has called the supervisor's thread lends it urgency, but no time.
        let called = self.worker.is(payer) && self.ready.is_used_up(&self.threads, payer);
        if called {
            self.worker.forget_callers();
        }
        if self.ready.change_budget(&self.threads, payer, time) || called {
            // Whose urgency counts may be another's now.
            self.payer = Payer::UNKNOWN;
            self.settle(payer);
        }
    }

    /// Whose urgency is that of `thread`, and who pays while that runs; `None`: it is not known.
    #[inline(always)]
    fn payer_of(&self, thread: ThreadIndex) -> Option<ThreadIndex> {
        if self.ready.urgency(&self.threads, thread)
            == self.ready.own_urgency(&self.threads, thread)
        {
            return Some(thread);
        }
        (self.payer.of == thread && self.payer_is_found).then_some(self.payer.thread)
    }

    /// `running`, for which another may pay, ran for so long, by the run clock.
    #[inline(never)]
    pub(crate) fn charge_payer(&mut self, running: ThreadIndex, ran: u64) {
        if let Some(payer) = self.payer_of(running) {
            self.ready.charge(running, payer, ran);
        }
    }

    /// Follows some of the locks that lend `thread` its urgency.
    fn find_payer(&mut self, thread: ThreadIndex, time: u64) {
        if self.payer.of != thread {
            self.payer = Payer { of: thread, thread };
            self.payer_is_found = false;
        }
        for _ in 0..FOLLOWED_MAXIMUM {
            let payer = self.payer.thread;
            let lock = self.threads[payer as usize].contended;
            let own = self.ready.own_urgency(&self.threads, payer);
            let record = &self.locks[lock as usize];
            let waiter = record.waiters;
            if lock == NONE || waiter == IDLE || own <= record.donation {
                self.payer_is_found = true;
                return;
            }
            // While an owner waited for an event, whoever waits for its lock was not held up by others' budgets.
            let woken = self.ready.woken(payer);
            if self.ready.resume_held_up(&self.threads, waiter, woken, time) {
                self.mark_unsettled(waiter);
            }
            self.payer.thread = waiter;
        }
    }
}
