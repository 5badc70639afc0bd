//! Work that an operation leaves for later, so that interrupts are never off for long.
//!
//! Four things can take as long as others make them: a priority that passes along a chain of owners, the locks of
//! a thread that ends, the look at all stack queues that threads wait for, and many time limits that end at once. They
//! are done in *pieces* of constant length. A *light* piece moves nothing in a heap of several; an operation does up to
//! three of these. For the others the timer interrupts at once, and each of its interrupts does one, or light
//! ones. Devices' interrupts come in between.
//!
//! **Who goes first.** Work has the [class](ReadyQueue::class) of the most urgent thread that it may let run. As long
//! as a more urgent thread runs, work and passed time limits are *deferred*: they could not change which thread runs.
//! They are taken up as soon as a less urgent thread is switched to, and one piece in each part ([`PACE`]) of a quantum in any case. So
//! no work holds up a more urgent thread, and no thread is held up for ever by one that is more urgent than its time limit, but
//! waits for him.
//!
//! **What holds meanwhile.** Owners, waiters and chains are always true; late are only urgencies. A thread in
//! `unsettled` may count with another urgency than is due, a lock in `stale` may lend another than its first
//! waiter has, and everything else is right: each piece that changes an urgency marks whatever is derived from it. A
//! change passes each of at most `CHAIN_MAXIMUM` owners in two pieces, so an inversion that is not yet seen lasts as
//! many interrupts of the timer.

use crate::classes;
use crate::heap::{self, ByWaitKey};
use crate::locks::{ByDonation, LockIndex};
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, NONE, State, ThreadIndex};

/// Most pieces that one operation does.
pub const PIECES_MAXIMUM: usize = 3;
/// In so many parts of a quantum, a piece of deferred work is done even if a more urgent thread runs.
pub const PACE: u64 = 100;
/// The class of work that is never deferred.
const ALWAYS: u8 = 0;

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// There is work that may let a thread of this class run.
    fn add_work(&mut self, class: u8) {
        self.left = true;
        self.work_class = self.work_class.min(class);
    }

    #[cfg(test)]
    pub(crate) fn has_work(&self) -> bool {
        self.left
    }

    /// Passes urgencies on, as far as that is light; for all other work that was left, the timer comes.
    #[inline(always)]
    pub(crate) fn work_lightly(&mut self, now: u64) {
        if self.left {
            self.pass_urgencies(self.urgency_classes(), false);
            self.see_what_is_left(0);
        }
        self.leave_work(now);
    }

    /// Does nothing of the work that was left: the timer comes for it.
    #[inline(always)]
    pub(crate) fn leave_work(&mut self, now: u64) {
        if self.left {
            let time = self.put_off(now);
            self.arm_before(time);
        }
        if self.deferred {
            self.take_up();
        }
    }

    /// Does a piece of work: of the most urgent class, and in turn with it a look at stack queues, of which it is not
    /// known which threads wait for them. The caller sees to the timer.
    #[inline(always)]
    pub(crate) fn do_work(&mut self, now: u64) {
        let classes = self.classes();
        let class = classes & classes.wrapping_neg();
        let looks = !self.stacks.are_seen() && (class == 0 || self.looks_next);
        self.looks_next = !looks;
        if looks {
            self.look_on(now);
        } else if self.urgency_classes() & class != 0 {
            self.pass_urgencies(class, true);
        } else if class != 0 {
            self.long_piece(class, now);
        }
        self.see_what_is_left(class);
    }

    /// After work of this class, which was the most urgent.
    #[inline(always)]
    fn see_what_is_left(&mut self, class: u64) {
        let classes = self.classes();
        self.left = classes != 0 || !self.stacks.are_seen();
        if !self.left {
            self.work_class = u8::MAX;
        } else if self.stacks.are_seen() && classes & class == 0 {
            self.work_class = self.work_class.max(classes::least(classes));
        }
    }

    /// Brings urgencies of these classes up to date: up to three light pieces, of which the first may be heavy if `heavy`.
    #[inline(never)]
    fn pass_urgencies(&mut self, classes: u64, heavy: bool) {
        let (mut classes, mut heavy) = (classes, heavy);
        for _ in 0..PIECES_MAXIMUM {
            let class = classes & classes.wrapping_neg();
            let light;
            if let Some(lock) = self.stale.first_of(class) {
                light = !self.is_among_several(lock);
                if light || heavy {
                    self.renew_donation(lock);
                }
            } else if let Some(thread) = self.unsettled.first_of(class) {
                light = !self.waits_with_others(thread);
                if light || heavy {
                    self.settle(thread);
                }
            } else {
                return;
            }
            if !light {
                return;
            }
            (classes, heavy) = (self.urgency_classes(), false);
        }
    }

    /// The rough classes of urgencies that are not up to date.
    #[inline(always)]
    fn urgency_classes(&self) -> u64 {
        self.stale.classes() | self.unsettled.classes()
    }

    /// The rough classes of all work but looks at stack queues, a bit for each: the lowest is the most urgent.
    #[inline(always)]
    fn classes(&self) -> u64 {
        self.urgency_classes() | self.ending.classes() | self.alarm_class | self.look_classes
    }

    #[inline(never)]
    fn long_piece(&mut self, class: u64, now: u64) {
        if let Some(thread) = self.ending.first_of(class) {
            self.end_further(thread, now);
        } else if self.look_classes & class != 0 {
            self.look_classes = 0;
            self.stacks.look_again();
            self.look_on(now);
        } else {
            self.alarm_class = 0;
            let urgency = core::mem::replace(&mut self.alarm, u64::MAX);
            self.call_supervisor(urgency, now);
        }
    }

    /// Whether another lock lends the owner of `lock` something, too.
    pub(crate) fn is_among_several(&self, lock: LockIndex) -> bool {
        let root = self.threads[self.locks[lock as usize].owner as usize].contended;
        root != NONE && (root != lock || heap::has_several::<ByDonation>(&self.locks, root))
    }

    /// Whether a change of the urgency of `thread` moves it in a heap of several.
    fn waits_with_others(&mut self, thread: ThreadIndex) -> bool {
        if Q::RELEASES && self.threads[thread as usize].runnable() {
            return true;
        }
        let root = self.root_of(thread).map_or(IDLE, |root| *root);
        root != IDLE && heap::has_several::<ByWaitKey>(&self.threads, root)
    }

    /// When the timer has to come for work that is left: at once, or, if the first thread goes before it, in a while. That
    /// one is not interrupted just to find this.
    pub(crate) fn put_off(&mut self, now: u64) -> u64 {
        let class = self.work_class;
        if !self.outranks(self.ready.first(), class) {
            return 0;
        }
        let before = if self.deferred { self.deferred_class } else { u8::MAX };
        self.defer(class.min(before), self.machine.time(now));
        self.forced_at
    }

    /// Work and passed limits of this class wait for a less urgent thread to run.
    pub(crate) fn defer(&mut self, class: u8, time: u64) {
        if !self.deferred {
            self.forced_at = time.saturating_add(self.configuration.quantum / PACE);
        }
        self.deferred = true;
        self.deferred_class = class;
    }

    /// True if the thread that runs now goes before all work of this class.
    pub(crate) fn outranks(&self, thread: ThreadIndex, class: u8) -> bool {
        thread != IDLE && self.ready.class(self.ready.urgency(&self.threads, thread)) < class
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

    fn renew_donation(&mut self, lock: LockIndex) {
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
        let root = &mut self.threads[record.owner as usize].contended;
        heap::insert::<ByDonation>(&mut self.locks, root, lock);
    }

    /// The urgency that should count for `thread`: the best of its own and of what its locks lend it.
    pub(crate) fn due_urgency(&self, thread: ThreadIndex) -> u64 {
        let own = self.worker.due(thread, self.ready.own_urgency(&self.threads, thread));
        match self.threads[thread as usize].contended {
            NONE => own,
            lock => own.min(self.locks[lock as usize].donation),
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

    /// Gives `thread` another urgency, and marks what it waits for.
    pub(crate) fn change_urgency(&mut self, thread: ThreadIndex, urgency: u64, front: bool) {
        self.set_urgency(thread, urgency, front);
        let record = &self.threads[thread as usize];
        if record.state == State::Lock {
            self.mark_stale(record.object as LockIndex);
        }
    }

    /// Brings the urgency of a thread that is in no queue up to date.
    pub(crate) fn refresh_urgency(&mut self, thread: ThreadIndex) {
        let urgency = self.due_urgency(thread);
        self.ready.set_urgency(&mut self.threads, thread, urgency);
    }

    /// `thread`, which has ended, still holds locks.
    pub(crate) fn add_ending(&mut self, thread: ThreadIndex) {
        let class = self.ready.class(self.ready.urgency(&self.threads, thread));
        self.ending.set(thread, class);
        self.add_work(class);
    }

    /// The supervisor has something to ask for, on behalf of a thread of this urgency.
    pub(crate) fn add_alarm(&mut self, urgency: u64) {
        self.alarm = self.alarm.min(urgency);
        self.alarm_class = classes::bit(self.ready.class(self.alarm));
        self.add_work(self.ready.class(urgency));
    }

    /// All stack queues that threads wait for are to be looked at.
    pub(crate) fn add_look_for_stacks(&mut self) {
        self.stacks.look_again();
        // Which of them has an activation, and so could run, is not known yet.
        if !self.stacks.are_seen() {
            self.add_work(ALWAYS);
        }
    }

    /// All stack queues are to be looked at again when `thread` has run.
    pub(crate) fn look_after(&mut self, thread: ThreadIndex) {
        let class = self.ready.class(self.ready.urgency(&self.threads, thread));
        // The next rough class: this one would come before it.
        let class = (class | !classes::ROUGHLY).saturating_add(1);
        self.look_classes |= classes::bit(class);
        self.add_work(class);
    }

    /// A less urgent thread may run from now on: what was deferred is taken up again if that one does not go
    /// before it.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_up(&mut self) {
        if self.deferred && !self.outranks(self.ready.first(), self.deferred_class) {
            self.deferred = false;
            // At once.
            self.arm_before(0);
        }
    }
}
