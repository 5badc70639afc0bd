//! What a dead instance has here is given back in steps.

use crate::locks::LOCKS;
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::{Life, SEMAPHORES};
use crate::thread::{IDLE, State, ThreadIndex};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};

/// Most threads and objects that one step of [`Scheduler::reclaim`] looks at.
pub const SCAN_MAXIMUM: usize = 3;

const FIRST_SEMAPHORE: u64 = 256;
const FIRST_LOCK: u64 = FIRST_SEMAPHORE + SEMAPHORES as u64;
const SCAN_END: u64 = FIRST_LOCK + LOCKS as u64;

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

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
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
        if cursor >= SCAN_END || dead.index() >= INSTANCES_MAXIMUM {
            return self.refuse(Error::BadArgument);
        }
        if cursor == 0 {
            self.lift_budgets(Tenant::calling(dead), true);
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
}
