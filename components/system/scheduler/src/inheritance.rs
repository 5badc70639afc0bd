//! Urgencies: what a thread inherits from those who wait for its locks.

use crate::heap::{self, ByWaitKey};
use crate::locks::{ByDonation, LockIndex};
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, NONE, State, THROTTLED, ThreadIndex};

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// The urgency that should count for `thread`: the best of its own and of what its locks lend it.
    pub(crate) fn due_urgency(&self, thread: ThreadIndex) -> u64 {
        let own = self.worker.due(thread, self.ready.own_urgency(&self.threads, thread));
        match self.threads[thread as usize].contended {
            NONE => own,
            lock => own.min(self.locks[lock as usize].donation),
        }
    }

    /// Brings the urgency of a thread that is in no queue up to date.
    pub(crate) fn refresh_urgency(&mut self, thread: ThreadIndex) {
        let urgency = self.due_urgency(thread);
        self.ready.set_urgency(&mut self.threads, thread, urgency);
    }

    /// Gives `thread` another urgency, and marks what it waits for.
    pub(crate) fn change_urgency(&mut self, thread: ThreadIndex, urgency: u64, front: bool) {
        self.set_urgency(thread, urgency, front);
        let record = &self.threads[thread as usize];
        if record.state == State::Lock {
            self.mark_stale(record.object as LockIndex);
        }
    }

    /// Brings the urgency of `thread` up to date. A thread that counts less goes before its new equals, one that counts more
    /// behind them.
    pub(crate) fn settle(&mut self, thread: ThreadIndex) {
        self.unsettled.clear(thread);
        let (due, counts) = (self.due_urgency(thread), self.ready.urgency(&self.threads, thread));
        if self.threads[thread as usize].state == State::Ending {
            // A thread that waits for a lock of it may be more urgent than it was.
            let class = self.ready.class(due);
            self.ending.set(thread, class);
            return self.add_work(class);
        }
        if due == counts || !self.threads[thread as usize].exists() {
            return;
        }
        self.change_urgency(thread, due, due > counts);
    }

    /// Looks at `thread` later, if its urgency is not what is due.
    pub(crate) fn mark_unsettled(&mut self, thread: ThreadIndex) {
        let (due, counts) = (self.due_urgency(thread), self.ready.urgency(&self.threads, thread));
        if thread == IDLE || due == counts {
            return;
        }
        // A thread that counts too much is in the way of those that are less urgent than that.
        let class = self.ready.class(due.min(counts));
        self.unsettled.set(thread, class);
        self.add_work(class);
    }

    /// Looks at what `lock` lends its owner later.
    pub(crate) fn mark_stale(&mut self, lock: LockIndex) {
        let Some(due) = self.lends(lock) else { return };
        let record = &self.locks[lock as usize];
        let lent = if record.lends { record.donation } else { u64::MAX };
        // An owner that counts too much is in the way of those that are less urgent than that.
        let class = self.ready.class(due.unwrap_or(u64::MAX).min(lent));
        self.stale.set(lock, class);
        self.add_work(class);
    }

    /// What `lock` should lend, if that is not what it lends.
    fn lends(&self, lock: LockIndex) -> Option<Option<u64>> {
        let record = &self.locks[lock as usize];
        let due = (record.waiters != IDLE && record.owner != IDLE)
            .then(|| self.ready.urgency(&self.threads, record.waiters));
        let lent = record.lends.then_some(record.donation);
        (due != lent).then_some(due)
    }

    pub(crate) fn renew_donation(&mut self, lock: LockIndex) {
        self.stale.clear(lock);
        let Some(due) = self.lends(lock) else { return };
        let owner = self.locks[lock as usize].owner;
        self.take_back(lock);
        if let Some(urgency) = due {
            self.lend(lock, urgency);
        }
        self.mark_unsettled(owner);
    }

    /// `lock` lends its owner nothing from now on.
    pub(crate) fn take_back(&mut self, lock: LockIndex) {
        let record = &mut self.locks[lock as usize];
        if !record.lends {
            return;
        }
        record.lends = false;
        let root = &mut self.threads[record.owner as usize].contended;
        heap::remove::<ByDonation>(&mut self.locks, root, lock);
    }

    /// `lock`, which lends nothing, lends its owner this urgency.
    pub(crate) fn lend(&mut self, lock: LockIndex, urgency: u64) {
        let record = &mut self.locks[lock as usize];
        record.lends = true;
        record.donation = urgency;
        let owner = record.owner;
        let root = &mut self.threads[owner as usize].contended;
        heap::insert::<ByDonation>(&mut self.locks, root, lock);
        if self.threads[owner as usize].flags & THROTTLED != 0 {
            let class = self.ready.class(urgency);
            self.follow_at_once(owner, class);
        }
    }

    /// Whether another lock lends the owner of `lock` something, too.
    pub(crate) fn is_among_several(&self, lock: LockIndex) -> bool {
        let root = self.threads[self.locks[lock as usize].owner as usize].contended;
        root != NONE && (root != lock || heap::has_several::<ByDonation>(&self.locks, root))
    }

    /// Whether a change of the urgency of `thread` moves it in a heap of several.
    pub(crate) fn waits_with_others(&mut self, thread: ThreadIndex) -> bool {
        if Q::BUDGETS && self.threads[thread as usize].runnable() {
            return true;
        }
        let root = self.root_of(thread).map_or(IDLE, |root| *root);
        root != IDLE && heap::has_several::<ByWaitKey>(&self.threads, root)
    }
}
