//! Earliest deadline first, as a policy of the scheduler's core.
//!
//! A thread has a period. What it does from an event that it waited for until it waits again is a
//! job; the job's deadline is the event's time plus the period. An event before the last deadline
//! belongs to the job before and leaves the deadline, so waiting for a device in the middle of a job
//! costs nothing. A thread that goes on behind its deadline, or yields, gets a new one a period from
//! now, so that overload delays all and starves none. Locks inherit deadlines.
//!
//! A priority, as the fixed-priority scheduler knows it, means the period `(256 - priority) * unit`;
//! [`EarliestDeadline::set_period`] sets any other.
#![no_std]
#![forbid(unsafe_code)]

use cairn_scheduler::heap::{self, ByWaitKey};
use cairn_scheduler::{ReadyQueue, ThreadIndex, Threads};

/// The policy: a heap of the ready threads by deadline.
pub struct EarliestDeadline {
    first: ThreadIndex,
    unit: u64,
    deadlines: [Deadline; 256],
}

#[derive(Clone, Copy)]
struct Deadline {
    period: u64,
    /// The deadline of its job.
    own: u64,
    /// The one that counts.
    counts: u64,
}

impl EarliestDeadline {
    /// Sets the length, in ticks, of the period of a thread of priority 255.
    pub fn set_unit(&mut self, ticks: u64) {
        self.unit = ticks.max(1);
    }

    /// Sets a thread's period, at least that of priority `ceiling`, through
    /// [`cairn_scheduler::Scheduler::adjust`]. A job begins.
    pub fn set_period(&mut self, thread: ThreadIndex, period: u64, ceiling: u8, now: u64) {
        let period = period.max(self.period_of(ceiling));
        let deadline = &mut self.deadlines[thread as usize];
        deadline.period = period;
        deadline.own = now.saturating_add(period);
    }

    fn period_of(&self, priority: u8) -> u64 {
        (256 - u64::from(priority)).saturating_mul(self.unit)
    }

    /// Moves the first thread's deadline a period from now.
    fn postpone(&mut self, threads: &mut Threads, first: ThreadIndex, now: u64) {
        let deadline = &mut self.deadlines[first as usize];
        let inherits = deadline.counts != deadline.own;
        // Always later, or two threads that yield within a tick would not take turns.
        let later = now.saturating_add(deadline.period).max(deadline.own.saturating_add(1));
        deadline.own = later;
        if !inherits {
            deadline.counts = later;
            self.remove(threads, first);
            self.insert(threads, first);
        }
    }
}

impl ReadyQueue for EarliestDeadline {
    const ZERO: EarliestDeadline = EarliestDeadline {
        first: cairn_scheduler::IDLE,
        unit: 0,
        deadlines: [Deadline { period: 0, own: 0, counts: 0 }; 256],
    };
    const RELEASES: bool = true;

    fn start(&mut self) {
        self.unit = 1;
    }

    #[inline(always)]
    fn first(&self) -> ThreadIndex {
        self.first
    }

    #[inline(always)]
    fn insert(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool {
        threads[thread as usize].set_wait_key(self.deadlines[thread as usize].counts);
        heap::insert::<ByWaitKey>(threads, &mut self.first, thread);
        self.first == thread
    }

    fn insert_front(&mut self, threads: &mut Threads, thread: ThreadIndex) {
        // Equal deadlines have no order.
        self.insert(threads, thread);
    }

    #[inline(always)]
    fn remove(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool {
        heap::remove::<ByWaitKey>(threads, &mut self.first, thread);
        false
    }

    #[inline(always)]
    fn remove_first(&mut self, threads: &mut Threads, first: ThreadIndex) -> bool {
        self.remove(threads, first)
    }

    fn rotate(&mut self, threads: &mut Threads, first: ThreadIndex, now: u64) {
        self.postpone(threads, first, now);
    }

    fn quantum_used(&mut self, threads: &mut Threads, first: ThreadIndex, now: u64) {
        if self.deadlines[first as usize].own <= now {
            self.postpone(threads, first, now);
        }
    }

    #[inline(always)]
    fn behind_first(&self) -> u16 {
        256
    }

    #[inline(always)]
    fn shares(&self, threads: &Threads) -> bool {
        heap::has_several::<ByWaitKey>(threads, self.first)
    }

    #[inline(always)]
    fn urgency(&self, _: &Threads, thread: ThreadIndex) -> u64 {
        self.deadlines[thread as usize].counts
    }

    #[inline(always)]
    fn class(&self, _urgency: u64) -> u8 {
        // A deadline says nothing about those that are not known yet.
        0
    }

    #[inline(always)]
    fn own_urgency(&self, _: &Threads, thread: ThreadIndex) -> u64 {
        self.deadlines[thread as usize].own
    }

    #[inline(always)]
    fn set_urgency(&mut self, _: &mut Threads, thread: ThreadIndex, urgency: u64) {
        self.deadlines[thread as usize].counts = urgency;
    }

    fn set_priority(&mut self, _: &mut Threads, thread: ThreadIndex, priority: u8, now: u64) {
        let period = self.period_of(priority);
        let deadline = &mut self.deadlines[thread as usize];
        deadline.period = period;
        deadline.own = now.saturating_add(period);
    }

    #[inline(always)]
    fn release(&mut self, _: &mut Threads, thread: ThreadIndex, time: u64) {
        let deadline = &mut self.deadlines[thread as usize];
        if deadline.own <= time {
            deadline.own = time.saturating_add(deadline.period);
        }
    }

    #[inline(always)]
    fn wait_key(&self, _: &Threads, thread: ThreadIndex, _sequence: u64) -> u64 {
        self.deadlines[thread as usize].counts
    }
}

#[cfg(test)]
mod tests;
