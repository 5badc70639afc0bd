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
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, ThreadIndex};

/// In so many parts of a quantum, a piece of deferred work is done even if a more urgent thread runs.
pub const PACE: u64 = 100;
/// The class of work that is never deferred.
const ALWAYS: u8 = 0;

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// There is work that may let a thread of this class run.
    pub(crate) fn add_work(&mut self, class: u8) {
        self.left = true;
        self.work_class = self.work_class.min(class);
    }

    #[cfg(test)]
    pub(crate) fn has_work(&self) -> bool {
        self.left
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
