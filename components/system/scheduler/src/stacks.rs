//! Waiting for an activation of a stack queue: portal code comes here when the queue is empty, and
//! when it gave an activation back while a thread waits.

use crate::bitmap::Bitmap;
use crate::heap::{self, ByWaitKey};
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, State, ThreadIndex};
use cairn_abi::domain::QUEUES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// Most stack queues.
pub const QUEUES: usize = QUEUES_MAXIMUM;
/// Most stack queues that one piece of work looks at.
pub const LOOK_MAXIMUM: usize = 8;

/// Who waits for activations.
pub(crate) struct StackQueues {
    /// For each queue, the root of the heap of waiting threads.
    roots: [ThreadIndex; QUEUES],
    /// Queues that threads wait for.
    waited: Bitmap<16>,
    /// Those of them that are still to be looked at, since some activation became free.
    unseen: Bitmap<16>,
    /// The one of them whose waiters go on though no activation is free, until none is left; one more than its number, 0: there is none. It is small, so that
    /// what is behind it stays within reach of an instruction.
    released: u16,
}

impl StackQueues {
    pub(crate) const NONE: StackQueues = StackQueues {
        roots: [IDLE; QUEUES],
        waited: Bitmap::EMPTY,
        unseen: Bitmap::EMPTY,
        released: 0,
    };

    /// The heap of those who wait for an activation of `queue`.
    pub(crate) fn root(&mut self, queue: u16) -> &mut ThreadIndex {
        &mut self.roots[queue as usize % QUEUES]
    }

    /// The same queues as another scheduler has.
    pub(crate) fn inherit(&mut self, from: &StackQueues) {
        self.released = from.released;
        if from.waited.is_empty() {
            return;
        }
        self.waited = from.waited;
        for queue in from.waited.iter() {
            self.roots[queue % QUEUES] = from.roots[queue % QUEUES];
        }
    }

    /// All queues that threads wait for are to be looked at.
    pub(crate) fn look_again(&mut self) {
        self.unseen = self.waited;
    }

    /// Nothing is to be looked at.
    #[inline(always)]
    pub(crate) fn are_seen(&self) -> bool {
        self.unseen.is_empty()
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Waits until an activation of `queue` is free. The thread has not got it yet when it goes on: its
    /// portal tries again, and may have to wait again.
    pub fn wait_stack(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        queue: u64,
        now: u64,
    ) -> M::Outcome {
        if queue >= QUEUES as u64 {
            return self.refuse(Error::BadArgument);
        }
        if thread == IDLE {
            return self.refuse(Error::NotAllowed);
        }
        self.block(thread, Tenant::calling(instance), State::Stack, queue as u16);
        let root = *self.stacks.root(queue as u16);
        self.set_wait_key(thread, root);
        let root = self.stacks.root(queue as u16);
        heap::insert::<ByWaitKey>(&mut self.threads, root, thread);
        self.stacks.waited.set(queue as usize);
        self.count_queue_waiters(queue as u16, 1);
        self.blocked_at_last(thread, now)
    }

    /// An activation became free, for which queue is not said: the first waiter of each queue that has
    /// one goes on.
    pub fn stacks_freed(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        self.add_look_for_stacks();
        self.do_work(now);
        self.leave_work(now);
        self.finish(thread, 0, 0, now)
    }

    /// Whoever waits for an activation of `queue`, which has none and gets none, goes on, the most urgent first: what they called
    /// leads elsewhere now. Who comes later goes on as well, as long as one of them is left.
    pub fn look_at_stacks(&mut self, thread: ThreadIndex, queue: u64, now: u64) -> M::Outcome {
        if queue >= QUEUES as u64 {
            return self.refuse(Error::BadArgument);
        }
        if self.stacks.waited.contains(queue as usize) {
            self.stacks.released = queue as u16 + 1;
        }
        self.stacks_freed(thread, now)
    }

    /// How many threads wait for an activation of `queue`.
    pub fn stack_waiters(&self, queue: u64) -> Result<u64, Error> {
        let queue = u16::try_from(queue).ok().filter(|queue| usize::from(*queue) < QUEUES);
        Ok(self.machine.waiters_word(queue.ok_or(Error::BadArgument)?).load(Relaxed) as u64)
    }

    /// Looks at the next queues, up to the first whose waiter can go on.
    pub(crate) fn look_on(&mut self, now: u64) {
        for _ in 0..LOOK_MAXIMUM {
            let Some(queue) = self.stacks.unseen.first() else { return };
            self.stacks.unseen.clear(queue);
            let waiter = self.stacks.roots[queue % QUEUES];
            let is_free = self.machine.has_activation(queue as u16)
                || self.stacks.released == queue as u16 + 1;
            if waiter != IDLE && is_free {
                self.end_wait(waiter, 0, self.policy_time(now));
                if self.stacks.roots[queue % QUEUES] != IDLE {
                    // It may not take it, since its portal has been taken back meanwhile.
                    self.look_after(waiter);
                }
                return;
            }
        }
    }

    /// `thread` waits for an activation of `queue` no longer.
    pub(crate) fn leave_stack_queue(&mut self, thread: ThreadIndex, queue: u16) {
        let root = self.stacks.root(queue);
        heap::remove::<ByWaitKey>(&mut self.threads, root, thread);
        if *root == IDLE {
            self.stacks.waited.clear(queue.into());
            if self.stacks.released == queue + 1 {
                self.stacks.released = 0;
            }
        }
        self.count_queue_waiters(queue, -1);
    }

    fn count_queue_waiters(&mut self, queue: u16, change: i64) {
        let word = self.machine.waiters_word(queue);
        word.store(word.load(Relaxed).wrapping_add(change), Relaxed);
    }
}
