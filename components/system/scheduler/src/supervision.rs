//! What the supervisor asks for: faults, stopping, the death of instances.

use crate::heap::{self, ByWaitKey};
use crate::locks::LOCKS;
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::{Life, SEMAPHORES};
use crate::thread::{FAULT_QUEUED, Handle, IDLE, STOPPED, State, TIMED, ThreadIndex};
use crate::time::ByTimeLimit;
use cairn_abi::domain::DOMAINS_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// Most threads and objects that one step of [`Scheduler::reclaim`] looks at.
pub const SCAN_MAXIMUM: usize = 3;

const FIRST_SEMAPHORE: u64 = 256;
const FIRST_LOCK: u64 = FIRST_SEMAPHORE + SEMAPHORES as u64;
const SCAN_END: u64 = FIRST_LOCK + LOCKS as u64;

/// Why a thread was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The trap's cause.
    pub cause: u64,
    /// What the trap tells, for example the address.
    pub value: u64,
    /// When it happened.
    pub time: u64,
}

impl Fault {
    /// No fault.
    pub const NONE: Fault = Fault { cause: 0, value: 0, time: 0 };
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// The running thread faulted: stops it and calls the supervisor with its urgency. [`IDLE`] cannot be stopped; its
    /// fault is queued too.
    pub fn fault(&mut self, thread: ThreadIndex, cause: u64, value: u64, now: u64) -> M::Outcome {
        self.fault_of[thread as usize] = Fault { cause, value, time: self.machine.time(now) };
        let urgency = self.ready.urgency(&self.threads, thread);
        if thread == IDLE {
            self.threads[IDLE as usize].flags |= FAULT_QUEUED;
        } else {
            self.ready.remove_first(&mut self.threads, thread);
            self.note_nothing();
            self.threads[thread as usize].flags |= STOPPED | FAULT_QUEUED;
            self.queue_fault(thread);
        }
        self.call_supervisor(urgency, now);
        if self.deferred {
            self.take_up();
        }
        self.finish(thread, 0, 0, now)
    }

    /// There is something for the supervisor, for a thread of this urgency: until its
    /// [`Scheduler::work_at`] it is at least as urgent.
    pub(crate) fn call_supervisor(&mut self, urgency: u64, now: u64) {
        let semaphore = self.configuration.supervisor_semaphore;
        self.called = self.called.min(urgency);
        let worker = self.worker;
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
        let is_own = self.homes[thread as usize] == self.homes[self.worker as usize];
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
        self.worker = thread;
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
                self.worker = thread;
                self.lower_worker(priority, now);
                self.blocked_at_last(thread, now)
            }
            Err(error) => self.refuse(error),
        }
    }

    fn lower_worker(&mut self, priority: u64, now: u64) {
        self.called = u64::MAX;
        let priority = priority.min(255) as u8;
        // The same priority again begins no new job of a policy that knows deadlines.
        if self.worker_priority != Some(priority) {
            self.worker_priority = Some(priority);
            let time = self.policy_time(now);
            self.ready.set_priority(&mut self.threads, self.worker, priority, time);
        }
        self.renew_worker(false);
    }

    /// Brings the urgency of the supervisor's thread up to date. `front`: it goes before its new equals.
    fn renew_worker(&mut self, front: bool) {
        let (due, counts) =
            (self.due_urgency(self.worker), self.ready.urgency(&self.threads, self.worker));
        if self.worker != IDLE && due != counts {
            self.change_urgency(self.worker, due, front);
        }
    }

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

    /// The next thread that faulted and was not reported yet. It stays stopped.
    pub fn next_fault(&mut self) -> Result<Handle, Error> {
        let thread = self.faults;
        if self.threads[thread as usize].flags & FAULT_QUEUED == 0 {
            return Err(Error::NotFound);
        }
        self.forget_fault(thread);
        self.handle(thread)
    }

    /// The last fault of a thread.
    pub fn fault_of(&self, thread: ThreadIndex) -> Fault {
        self.fault_of[thread as usize]
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
        self.called = self.called.min(self.ready.urgency(&self.threads, target));
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
        self.forget_fault(target);
        let record = &mut self.threads[target as usize];
        if record.flags & STOPPED != 0 {
            record.flags &= !STOPPED;
            if record.state == State::Ready {
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
    fn drop_limit(&mut self, thread: ThreadIndex) -> bool {
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

    /// One step of the reclaiming of what the dead instance `dead` has here: the waits that were begun
    /// in it end with [`Error::Dead`], its semaphores and locks are freed, and threads that wait for them
    /// gets [`Error::Dead`]. The first `cursor` is 0, the next one is the value; 0: done. A step ends
    /// one wait or object at most, or takes a time limit away.
    pub fn reclaim(
        &mut self,
        thread: ThreadIndex,
        dead: InstanceId,
        cursor: u64,
        now: u64,
    ) -> M::Outcome {
        if cursor >= SCAN_END || dead.index() >= DOMAINS_MAXIMUM {
            return self.refuse(Error::BadArgument);
        }
        let mut cursor = cursor;
        for _ in 0..SCAN_MAXIMUM {
            cursor = self.next_used(cursor);
            if cursor == SCAN_END {
                break;
            }
            let step = if cursor < FIRST_SEMAPHORE {
                self.reclaim_wait(cursor as ThreadIndex, dead, now)
            } else if cursor < FIRST_LOCK {
                self.reclaim_semaphore((cursor - FIRST_SEMAPHORE) as u16, dead, now)
            } else {
                self.reclaim_lock((cursor - FIRST_LOCK) as u8, dead, now)
            };
            if step != Step::Again {
                cursor += 1;
            }
            if step != Step::Nothing {
                break;
            }
        }
        self.leave_work(now);
        self.finish(thread, 0, if cursor == SCAN_END { 0 } else { cursor }, now)
    }

    /// The first cursor, from this one on, of a thread or object that exists.
    fn next_used(&self, cursor: u64) -> u64 {
        if cursor < FIRST_SEMAPHORE {
            let used = self.free_threads.next_clear(cursor as usize);
            if let Some(thread) = used.filter(|thread| *thread < self.configuration.threads) {
                return thread as u64;
            }
        }
        if cursor < FIRST_LOCK {
            let from = cursor.saturating_sub(FIRST_SEMAPHORE) as usize;
            if let Some(semaphore) = self.free_semaphores.next_clear(from) {
                return FIRST_SEMAPHORE + semaphore as u64;
            }
        }
        // Lock 0 is none.
        let from = cursor.saturating_sub(FIRST_LOCK).max(1) as usize;
        match self.free_locks.next_clear(from) {
            Some(lock) => FIRST_LOCK + lock as u64,
            None => SCAN_END,
        }
    }

    fn reclaim_wait(&mut self, thread: ThreadIndex, dead: InstanceId, now: u64) -> Step {
        let record = &self.threads[thread as usize];
        if !record.exists() || record.state == State::Ready || record.waits_in.instance() != dead {
            return Step::Nothing;
        }
        if self.drop_limit(thread) {
            return Step::Again;
        }
        self.end_wait(thread, Error::Dead.status() as i8, self.policy_time(now));
        Step::Done
    }

    fn reclaim_semaphore(&mut self, index: u16, dead: InstanceId, now: u64) -> Step {
        let record = &mut self.semaphores[index as usize % SEMAPHORES];
        if record.life == Life::Free || record.payer.instance() != dead {
            return Step::Nothing;
        }
        if record.life == Life::Alive {
            record.life = Life::Dying;
            self.close_words(index);
        }
        let waiter = self.roots[index as usize % SEMAPHORES];
        if waiter != IDLE {
            if self.drop_limit(waiter) {
                return Step::Again;
            }
            self.end_wait(waiter, Error::Dead.status() as i8, self.policy_time(now));
            return Step::Again;
        }
        let record = &mut self.semaphores[index as usize % SEMAPHORES];
        if record.fixed {
            record.life = Life::Alive;
            self.set_word(index, 0);
            return Step::Done;
        }
        self.drop_semaphore(index);
        Step::Done
    }

    fn reclaim_lock(&mut self, index: u8, dead: InstanceId, now: u64) -> Step {
        let record = &mut self.locks[index as usize];
        if record.life == Life::Free || record.payer.instance() != dead {
            return Step::Nothing;
        }
        record.life = Life::Dying;
        let owner = record.owner;
        let waiter = record.waiters;
        if waiter != IDLE {
            self.end_wait(waiter, Error::Dead.status() as i8, self.policy_time(now));
            return Step::Again;
        }
        if owner != IDLE {
            self.forget_held(index);
            self.mark_unsettled(owner);
        }
        self.drop_lock(index);
        Step::Done
    }

    fn queue_fault(&mut self, thread: ThreadIndex) {
        let first = self.faults;
        if first == IDLE {
            self.faults = thread;
        }
        let next = if first == IDLE { thread } else { first };
        let previous = if first == IDLE { thread } else { self.threads[first as usize].previous };
        self.threads[thread as usize].next = next;
        self.threads[thread as usize].previous = previous;
        self.threads[next as usize].previous = thread;
        self.threads[previous as usize].next = thread;
    }

    /// Takes `thread` out of the queue of faults if it is there.
    pub(crate) fn forget_fault(&mut self, thread: ThreadIndex) {
        let record = &mut self.threads[thread as usize];
        if record.flags & FAULT_QUEUED == 0 {
            return;
        }
        record.flags &= !FAULT_QUEUED;
        if thread == IDLE {
            return;
        }
        let (next, previous) = (record.next, record.previous);
        self.threads[next as usize].previous = previous;
        self.threads[previous as usize].next = next;
        if self.faults == thread {
            self.faults = if next == thread { IDLE } else { next };
        }
    }
}

/// What a step of [`Scheduler::reclaim`] found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing of the dead instance: look at the next entry.
    Nothing,
    /// It is done with this entry.
    Done,
    /// There is more at this entry.
    Again,
}
