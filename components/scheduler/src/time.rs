//! Yield, sleep, time limits, quanta.

use crate::heap::{self, ByTimeLimit};
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, State, TIMED, ThreadIndex};
use cairn_abi::Error;

/// Most time limits that one timer interrupt ends. If more have passed, the timer interrupts again
/// at once; device interrupts get their turn in between.
pub const EXPIRE_MAXIMUM: usize = 4;

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Lets the other threads of the same priority run first.
    #[inline(always)]
    pub fn yield_now(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        if thread == IDLE {
            return self.machine.reply(0, 0);
        }
        self.ready.rotate(&mut self.threads, thread, now);
        self.finish(thread, 0, 0, now)
    }

    /// Waits until the time is `deadline`.
    pub fn sleep_until(
        &mut self,
        thread: ThreadIndex,
        domain: u8,
        deadline: u64,
        now: u64,
    ) -> M::Outcome {
        if thread == IDLE {
            return self.refuse(Error::NotAllowed);
        }
        if deadline <= now {
            if Q::RELEASES {
                // No wait, but the event was there: whoever is late begins its next job.
                self.ready.remove_first(&mut self.threads, thread);
                self.note_release(thread, deadline);
                self.ready.insert(&mut self.threads, thread);
            }
            return self.finish(thread, 0, 0, now);
        }
        self.block(thread, domain, State::Sleep, 0);
        self.limit(thread, deadline);
        self.blocked(thread, now)
    }

    /// The timer's interrupt, while `thread` ran: ends waits whose time limit has passed, and the
    /// running thread's quantum. Returns to `thread` or switches; sets the timer.
    pub fn tick(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        for _ in 0..EXPIRE_MAXIMUM {
            let first = self.timers;
            let limit = self.threads[first as usize].time_limit;
            if first == IDLE || limit > now {
                break;
            }
            let slept = self.threads[first as usize].state == State::Sleep;
            let status = if slept { 0 } else { Error::TimedOut.status() as i8 };
            self.end_wait(first, status, limit);
        }
        self.look_on(now);
        // Whoever ran, ran until now, even if another thread is first since a moment.
        self.account(thread, now);
        if self.next_tick != 0 && now >= self.next_tick {
            let record = &mut self.threads[thread as usize];
            let ran = record.used.wrapping_sub(record.quantum_from);
            if ran >= self.configuration.quantum {
                record.quantum_from = record.used;
                if thread == self.ready.first() && thread != IDLE {
                    self.ready.quantum_used(&mut self.threads, thread, now);
                }
            }
            let shares = self.ready.shares(&self.threads);
            self.next_tick =
                if shares { now.saturating_add(self.configuration.quantum) } else { 0 };
        }
        self.arm(now);
        self.finish(thread, 0, 0, now)
    }

    /// When the wait of `thread` ends at the latest.
    pub(crate) fn limit(&mut self, thread: ThreadIndex, deadline: u64) {
        let record = &mut self.threads[thread as usize];
        record.time_limit = deadline;
        record.flags |= TIMED;
        heap::insert::<ByTimeLimit>(&mut self.threads, &mut self.timers, thread);
        self.arm_before(deadline);
    }

    /// Two threads share the processor from now on: the timer marks quanta.
    pub(crate) fn start_ticking(&mut self, now: u64) {
        self.next_tick = now.saturating_add(self.configuration.quantum);
        self.arm_before(self.next_tick);
    }

    pub(crate) fn arm_before(&mut self, time: u64) {
        if time < self.armed {
            self.armed = time;
            self.machine.set_timer(time);
        }
    }

    /// Sets the timer to whatever comes first. A limit that is taken back meanwhile costs a needless
    /// interrupt, not a needless setting of the timer for each wait.
    fn arm(&mut self, now: u64) {
        let mut time = u64::MAX;
        if self.timers != IDLE {
            time = self.threads[self.timers as usize].time_limit;
        }
        if self.next_tick != 0 {
            time = time.min(self.next_tick);
        }
        if self.unseen.first().is_some() {
            time = now;
        }
        self.armed = time;
        self.machine.set_timer(time);
    }
}
