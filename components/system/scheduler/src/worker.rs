//! The supervisor's thread: how it is called, and how urgent it is.

use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::SEMAPHORES;
use crate::thread::{IDLE, ThreadIndex};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// Who the supervisor's thread is, and for whom it works.
#[derive(Clone, Copy)]
pub(crate) struct Worker {
    thread: ThreadIndex,
    /// The priority that it gave itself last.
    priority: Option<u8>,
    /// The best urgency of those who have called it since; all ones: nobody has.
    called: u64,
}

impl Worker {
    /// Before [`Scheduler::start`].
    pub(crate) const ZERO: Worker = Worker { thread: IDLE, priority: None, called: 0 };
    /// There is none yet.
    pub(crate) const NONE: Worker = Worker { called: u64::MAX, ..Worker::ZERO };

    /// A thread of this urgency waits for it.
    pub(crate) fn call(&mut self, urgency: u64) {
        self.called = self.called.min(urgency);
    }

    /// The same, if somebody has called it, called by a thread of this urgency.
    pub(crate) fn with_callers(self, urgency: u64) -> Worker {
        Worker { called: if self.called == u64::MAX { u64::MAX } else { urgency }, ..self }
    }

    /// Who has called it so far lends it nothing any more.
    pub(crate) fn forget_callers(&mut self) {
        self.called = u64::MAX;
    }

    /// True if it is `thread`.
    pub(crate) fn is(&self, thread: ThreadIndex) -> bool {
        thread == self.thread
    }

    /// The urgency of `thread`, which is `own` but for what it is called for.
    pub(crate) fn due(&self, thread: ThreadIndex, own: u64) -> u64 {
        if self.is(thread) { own.min(self.called) } else { own }
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// There is something for the supervisor, for a thread of this urgency: until its
    /// [`Scheduler::work_at`] it is at least as urgent.
    pub(crate) fn call_supervisor(&mut self, urgency: u64, now: u64) {
        let semaphore = self.configuration.supervisor_semaphore;
        self.worker.call(urgency);
        let worker = self.worker.thread;
        let root = &mut self.roots[semaphore as usize % SEMAPHORES];
        if worker == IDLE
            || *root != worker
            || self.machine.semaphore(semaphore)[0].load(Relaxed) != -1
        {
            // Without that semaphore no component learns of faults; there is none to tell that.
            let _ = self.signal(semaphore.into(), now);
            return self.renew_worker(true);
        }
        // The worker waits there alone: it gets its urgency before it is put into the ready queue, not after.
        *root = IDLE;
        self.set_word(semaphore, 0);
        self.note_release(worker, self.policy_time(now));
        let front = self.due_urgency(worker) != self.ready.urgency(&self.threads, worker);
        self.refresh_urgency(worker);
        match (self.leave_wait(worker, 0), front) {
            (false, _) => {}
            // Before its new equals: the caller waits for it.
            (true, true) => self.ready.insert_front(&mut self.threads, worker),
            (true, false) => _ = self.ready.insert(&mut self.threads, worker),
        }
    }

    /// A thread in the supervisor wants the worker to look at what it left. One that began there, the watch, lends
    /// nothing but what the threads do that it stopped: it is more urgent than all, and does not wait for the worker.
    pub fn alarm(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        let is_own = self.homes[thread as usize] == self.homes[self.worker.thread as usize];
        let urgency = if is_own { u64::MAX } else { self.ready.urgency(&self.threads, thread) };
        self.call_supervisor(urgency, now);
        self.leave_work(now);
        self.finish(thread, 0, 0, now)
    }

    /// The supervisor goes on with work of this priority, and no longer counts as more urgent because it
    /// was called. [`Error::Busy`]: it was called since it looked last, and stays as urgent as that.
    pub fn work_at(&mut self, thread: ThreadIndex, priority: u64, now: u64) -> M::Outcome {
        let semaphore = self.configuration.supervisor_semaphore;
        if self.word(semaphore) > 0 {
            self.set_word(semaphore, 0);
            return self.refuse(Error::Busy);
        }
        self.worker.thread = thread;
        self.lower_worker(priority, now);
        self.leave_work(now);
        self.finish(thread, 0, 0, now)
    }

    /// Waits for the next call of the supervisor, or the time `deadline`, and has this priority then,
    /// unless the caller is more urgent.
    #[inline(always)]
    pub fn wait_fault(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        (deadline, priority): (u64, u64),
        now: u64,
    ) -> M::Outcome {
        let semaphore = self.configuration.supervisor_semaphore;
        if self.word(semaphore) > 0 || deadline <= self.machine.time(now) {
            return self.timed_p(thread, instance, semaphore.into(), deadline, now);
        }
        match self.p_or_wait(thread, Tenant::calling(instance), semaphore.into()) {
            Ok(true) => self.machine.reply(0, 0),
            Ok(false) => {
                self.limit(thread, deadline);
                self.worker.thread = thread;
                self.lower_worker(priority, now);
                self.blocked_at_last(thread, now)
            }
            Err(error) => self.refuse(error),
        }
    }

    fn lower_worker(&mut self, priority: u64, now: u64) {
        self.worker.forget_callers();
        let priority = priority.min(255) as u8;
        // The same priority again begins no new job of a policy that knows deadlines.
        if self.worker.priority != Some(priority) {
            if Q::BUDGETS {
                self.account(self.worker.thread, now);
            }
            self.worker.priority = Some(priority);
            let time = self.policy_time(now);
            self.ready.set_priority(&mut self.threads, self.worker.thread, priority, time);
        }
        self.renew_worker(false);
    }

    /// Brings the urgency of the supervisor's thread up to date. `front`: it goes before its equals, also if they are no new ones: it
    /// may have given way to them.
    pub(crate) fn renew_worker(&mut self, front: bool) {
        let worker = self.worker.thread;
        let (due, counts) = (self.due_urgency(worker), self.ready.urgency(&self.threads, worker));
        if worker != IDLE && (front || due != counts) {
            self.change_urgency(worker, due, front);
        }
    }
}
