//! How a wait ends, and how the urgency of a thread changes wherever it waits.

use crate::heap::{self, ByWaitKey};
use crate::locks::{LOCKS, LockIndex};
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::SEMAPHORES;
use crate::thread::{EXPIRED, IDLE, STOPPED, State, THROTTLED, TIMED, Thread, ThreadIndex};
use crate::time::ByTimeLimit;
use cairn_abi::semaphore::LEVEL_NEVER;

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// `thread`, whose wait has ended and which is in no object's queue any more, can run. The event
    /// that it waited for happened at `time`.
    pub(crate) fn wake(&mut self, thread: ThreadIndex, status: i8, time: u64) {
        self.note_release(thread, time);
        self.let_run(thread, status);
    }

    /// Tells the policy of an event that a thread in no queue waited for.
    #[inline(always)]
    pub(crate) fn note_release(&mut self, thread: ThreadIndex, time: u64) {
        self.ready.release(&self.threads, thread, time);
        if Q::BUDGETS {
            self.refresh_urgency(thread);
        }
    }

    /// [`Scheduler::wake`] after a wait that is no event for the policy, but only holds up.
    pub(crate) fn let_run(&mut self, thread: ThreadIndex, status: i8) {
        if self.leave_wait(thread, status) {
            self.ready.insert(&mut self.threads, thread);
        }
    }

    /// `thread` waits for nothing any more, not even for a time. True if it may run.
    #[inline(always)]
    pub(crate) fn leave_wait(&mut self, thread: ThreadIndex, status: i8) -> bool {
        self.threads[thread as usize].state = State::Ready;
        self.set_result(thread, status, 0);
        let flags = self.threads[thread as usize].flags;
        if flags & (TIMED | EXPIRED) != 0 {
            self.threads[thread as usize].flags = flags & !(TIMED | EXPIRED);
            if flags & TIMED != 0 {
                heap::remove::<ByTimeLimit>(&mut self.threads, &mut self.timers, thread);
            }
        }
        self.threads[thread as usize].flags & (STOPPED | THROTTLED) == 0
    }

    /// Ends the wait of `thread`, whatever it waits for, with `status`, at `time`.
    pub(crate) fn end_wait(&mut self, thread: ThreadIndex, status: i8, time: u64) {
        let Thread { state, object, .. } = self.threads[thread as usize];
        match state {
            State::Free | State::Ready | State::Ending => return,
            State::Sleep => {}
            State::Semaphore => {
                let root = &mut self.roots[object as usize % SEMAPHORES];
                heap::remove::<ByWaitKey>(&mut self.threads, root, thread);
                let word = self.word(object);
                self.set_word(object, word.wrapping_add(1));
            }
            State::Stack => {
                self.leave_stack_queue(thread, object);
                if !Q::BUDGETS {
                    return self.let_run(thread, status);
                }
            }
            State::Lock => {
                self.leave_lock(thread, object as LockIndex);
                if !Q::BUDGETS {
                    return self.let_run(thread, status);
                }
            }
            State::Join => self.threads[object as usize % 256].joiner = IDLE,
        }
        self.wake(thread, status, time);
    }

    /// The heap in which `thread` waits.
    pub(crate) fn root_of(&mut self, thread: ThreadIndex) -> Option<&mut ThreadIndex> {
        let Thread { state, object, .. } = self.threads[thread as usize];
        match state {
            State::Semaphore => Some(&mut self.roots[object as usize % SEMAPHORES]),
            State::Lock => Some(&mut self.locks[object as usize % LOCKS].waiters),
            State::Stack => Some(self.stacks.root(object)),
            State::Free | State::Ready | State::Join | State::Sleep | State::Ending => None,
        }
    }

    /// Gives `thread` the urgency that counts, in whatever queue it is.
    pub(crate) fn set_urgency(&mut self, thread: ThreadIndex, urgency: u64, front: bool) {
        if self.threads[thread as usize].runnable() {
            self.unready(thread);
            self.ready.set_urgency(&mut self.threads, thread, urgency);
            if front {
                self.ready.insert_front(&mut self.threads, thread);
            } else {
                self.ready.insert(&mut self.threads, thread);
            }
            return;
        }
        self.requeue(thread, |scheduler| {
            scheduler.ready.set_urgency(&mut scheduler.threads, thread, urgency);
        });
    }

    /// Takes `thread` out of the queue in which it waits, if it is in one, for a change, and puts it in where it belongs then.
    pub(crate) fn requeue(&mut self, thread: ThreadIndex, change: impl FnOnce(&mut Self)) {
        // The root is copied out and back because it lies in the same structure as the threads.
        let Some(mut root) = self.root_of(thread).map(|root| *root) else { return change(self) };
        let Thread { state, object, flags, .. } = self.threads[thread as usize];
        if state == State::Semaphore {
            self.set_level(object, LEVEL_NEVER);
        }
        if root == thread && !heap::has_several::<ByWaitKey>(&self.threads, root) {
            // Its key is made when another one comes.
            return change(self);
        }
        heap::remove::<ByWaitKey>(&mut self.threads, &mut root, thread);
        change(self);
        self.set_wait_key(thread, root);
        if flags & THROTTLED != 0 {
            self.threads[thread as usize].wait_key = u64::MAX;
        }
        heap::insert::<ByWaitKey>(&mut self.threads, &mut root, thread);
        if let Some(place) = self.root_of(thread) {
            *place = root;
        }
    }
}
