//! What the supervisor does with a thread: stops it, lets it go on, ends its wait or the thread.

use crate::heap::{self, ByWaitKey};
use crate::locks::LOCKS;
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::SEMAPHORES;
use crate::thread::{Handle, IDLE, STOPPED, State, TIMED, ThreadIndex};
use crate::time::ByTimeLimit;
use cairn_abi::{Error, InstanceId};

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// What a thread waits for: the index of what of that kind, and the holder of a lock.
    pub fn waits_for(
        &self,
        target: Handle,
    ) -> Result<(State, u16, ThreadIndex, InstanceId), Error> {
        let record = &self.threads[self.existing(target)? as usize];
        let holder = match record.state {
            State::Lock => self.locks[record.object as usize % LOCKS].owner,
            _ => IDLE,
        };
        Ok((record.state, record.object, holder, record.waits_in.instance()))
    }

    /// Stops a thread until [`Scheduler::resume`]; a wait of it goes on meanwhile. The supervisor, which
    /// it waits for then, counts as at least as urgent. [`Error::Busy`]: it is stopped already.
    pub fn stop(&mut self, thread: ThreadIndex, target: Handle, now: u64) -> M::Outcome {
        let target = match self.existing(target) {
            Ok(target) => target,
            Err(error) => return self.refuse(error),
        };
        if self.threads[target as usize].flags & STOPPED != 0 {
            return self.refuse(Error::Busy);
        }
        if self.threads[target as usize].runnable() {
            self.unready(target);
        }
        self.threads[target as usize].flags |= STOPPED;
        self.worker.call(self.ready.urgency(&self.threads, target));
        self.renew_worker(true);
        self.leave_work(now);
        self.finish(thread, 0, 0, now)
    }

    /// Lets a stopped thread go on.
    pub fn resume(&mut self, thread: ThreadIndex, target: Handle, now: u64) -> M::Outcome {
        let target = match self.existing(target) {
            Ok(target) => target,
            Err(error) => return self.refuse(error),
        };
        self.faults.forget(&mut self.threads, target);
        let record = &mut self.threads[target as usize];
        if record.flags & STOPPED != 0 {
            record.flags &= !STOPPED;
            if record.runnable() {
                self.note_release(target, self.policy_time(now));
                self.ready.insert(&mut self.threads, target);
            }
        }
        self.finish(thread, 0, 0, now)
    }

    /// Ends the wait of a thread with [`Error::Cancelled`]; the value is 1, or 0 if it did not wait.
    pub fn cancel_wait(&mut self, thread: ThreadIndex, target: Handle, now: u64) -> M::Outcome {
        let target = match self.existing(target) {
            Ok(target) => target,
            Err(error) => return self.refuse(error),
        };
        let waits = self.threads[target as usize].state != State::Ready;
        self.end_wait(target, Error::Cancelled.status() as i8, self.policy_time(now));
        self.leave_work(now);
        self.finish(thread, 0, waits.into(), now)
    }

    /// Takes the time limit of a wait away that is about to end, if both are among many: to end both in one operation
    /// would keep interrupts off for too long.
    pub(crate) fn drop_limit(&mut self, thread: ThreadIndex) -> bool {
        let record = &self.threads[thread as usize];
        if record.flags & TIMED == 0
            || !heap::has_several::<ByTimeLimit>(&self.threads, self.timers)
            || record.state != State::Semaphore
            || !heap::has_several::<ByWaitKey>(
                &self.threads,
                self.roots[record.object as usize % SEMAPHORES],
            )
        {
            return false;
        }
        heap::remove::<ByTimeLimit>(&mut self.threads, &mut self.timers, thread);
        self.threads[thread as usize].flags &= !TIMED;
        true
    }

    /// Ends a thread other than the caller, in whatever state it is. [`Error::Busy`]: it no longer has the time limit of its
    /// wait, and is to be ended once more.
    pub fn kill(&mut self, thread: ThreadIndex, target: Handle, now: u64) -> M::Outcome {
        match self.existing(target) {
            Ok(target) if target != thread => {
                if self.drop_limit(target) {
                    return self.refuse(Error::Busy);
                }
                if Q::BUDGETS {
                    // It may be who pays for the caller: that is to be paid when the next thread of its instance begins.
                    self.account(thread, now);
                }
                self.end(target, now);
                // It may have been on its way to an activation that another thread waits for.
                self.add_look_for_stacks();
                self.leave_work(now);
                self.finish(thread, 0, 0, now)
            }
            Ok(_) => self.refuse(Error::BadArgument),
            Err(error) => self.refuse(error),
        }
    }
}
