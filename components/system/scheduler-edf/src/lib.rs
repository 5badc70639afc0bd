//! Earliest deadline first, as a policy of the scheduler's core.
//!
//! A thread has a period, and a budget for each: a constant bandwidth server. What it does from an event that it waited for
//! until it waits again is a job; the job's deadline is the event's time plus the period. A thread that has used up its budget
//! waits for its deadline in the background, behind all that have one. So what a thread demands is bounded by what it was
//! given, and no other is late for it. Locks inherit deadlines, and whose deadline counts pays. The README has the rules.
//!
//! A priority, as the fixed-priority scheduler knows it, means the period `(256 - priority) * unit`;
//! [`EarliestDeadline::set_period`] sets any other.
#![no_std]
#![forbid(unsafe_code)]

use cairn_abi::InstanceId;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_scheduler::heap::{self, ByWaitKey};
use cairn_scheduler::{IDLE, ReadyQueue, ThreadIndex, Threads};

/// The policy: the ready threads by deadline, and behind them, by when they get a new budget, those that have used theirs up.
// In this order, the hot paths reach the words before the tables by short offsets.
#[repr(C)]
pub struct EarliestDeadline {
    /// Roots of the heaps: of threads with a budget, and of the background.
    first: [ThreadIndex; 2],
    /// The shortest period, and what the run clock counts in it and in a tick.
    unit: u64,
    turn: u64,
    rate: u64,
    jobs: [Job; 256],
    /// Of the threads that begin in an instance: in so many ticks, in units of 2^-16, their share is one of the run clock's; zero: they
    /// have none.
    inverse_shares: [u64; INSTANCES_MAXIMUM],
    /// When all that the ended threads of an instance ran is paid for.
    paid: [u64; INSTANCES_MAXIMUM],
}

#[derive(Clone, Copy)]
struct Job {
    period: u64,
    /// What it may run in a period, by the run clock.
    budget: u64,
    inverse_share: u64,
    /// What it had run when the budget, or its turn in the background, began. What another paid for is in it, what it
    /// paid for others is not.
    from: u64,
    /// Its deadline; or [`BACKGROUND`] and when it gets a new budget.
    own: u64,
    /// The one that counts.
    counts: u64,
    /// When it, or an owner from which it got a lock, last went on after an event.
    woken: u64,
    /// Since when it waits for a lock.
    held_up: u64,
}

/// What a description says of the time of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The instance.
    pub instance: InstanceId,
    /// Threads that it can have, not zero.
    pub threads: u32,
    /// Its part of the time; zero: it declares none.
    pub percent: u64,
}

/// Bit of an urgency: behind all deadlines.
const BACKGROUND: u64 = 1 << 63;
/// The longest period: its products with shares still are words.
const PERIOD_MAXIMUM: u64 = 1 << 44;
/// Bits behind the point of a share.
const SHARE_BITS: u32 = 16;
/// The share that is all the time.
pub const WHOLE: u64 = 1 << SHARE_BITS;

impl EarliestDeadline {
    /// Sets the length, in ticks, of the period of a thread of priority 255.
    pub fn set_unit(&mut self, ticks: u64) {
        self.unit = ticks.max(1);
        self.turn = self.unit * self.rate;
    }

    /// Gives instances their shares, which all of an instance's threads have equal parts of, before threads are adopted. Half
    /// of what is not declared is divided among those that declare nothing. The other half is what others cost beside
    /// what they run: an interrupt and a switch are charged in part to whoever runs before or next.
    pub fn share_out(&mut self, instances: impl Iterator<Item = Share> + Clone) {
        let declared: u64 = instances.clone().map(|share| share.percent).sum();
        let others = instances.clone().filter(|share| share.percent == 0).count() as u64;
        for Share { instance, threads, percent } in instances {
            let (part, of) = match percent {
                0 => (100u64.saturating_sub(declared), others * 200),
                percent => (percent, 100),
            };
            let inverse = (WHOLE * u64::from(threads) * of).checked_div(part).unwrap_or(0);
            self.set_share(instance, inverse);
        }
    }

    /// Gives each thread of an instance one `inverse`th of the time, in units of [`WHOLE`]; zero: none.
    pub fn set_share(&mut self, instance: InstanceId, inverse: u64) {
        self.inverse_shares[instance.index() % INSTANCES_MAXIMUM] = inverse.div_ceil(self.rate);
    }

    /// Sets a thread's period, at least that of priority `ceiling`, through
    /// [`cairn_scheduler::Scheduler::adjust`]. A job begins, with what is left of the thread's share.
    pub fn set_period(
        &mut self,
        threads: &Threads,
        thread: ThreadIndex,
        period: u64,
        ceiling: u8,
        now: u64,
    ) {
        let period = period.clamp(self.period_of(ceiling), PERIOD_MAXIMUM);
        let begin = self.paid_at(threads, thread).max(now);
        let job = &mut self.jobs[thread as usize];
        job.period = period;
        job.budget = (period << SHARE_BITS).checked_div(job.inverse_share).unwrap_or(0);
        self.fill(threads, thread, begin);
    }

    fn period_of(&self, priority: u8) -> u64 {
        (256 - u64::from(priority)).saturating_mul(self.unit).min(PERIOD_MAXIMUM)
    }

    /// What the thread has run since its budget or turn began.
    fn ran(&self, threads: &Threads, thread: ThreadIndex) -> u64 {
        threads[thread as usize].used().wrapping_sub(self.jobs[thread as usize].from)
    }

    /// The time at which a thread that takes its share evenly would have run as long as this one has. In the background all
    /// of the budget is used up, and what ran there counts as it is. The mark comes at a tick: up to that, what is more than
    /// the budget is paid for, too. More than that only a thread gets that ran alone, which pays nothing for it.
    fn paid_at(&self, threads: &Threads, thread: ThreadIndex) -> u64 {
        let job = &self.jobs[thread as usize];
        let ran = self.ran(threads, thread);
        let time = job.own & !BACKGROUND;
        if job.own & BACKGROUND != 0 && job.budget > 0 {
            return time.saturating_add(ran / self.rate);
        }
        let takes = (ran.min(job.budget + self.rate - 1) * job.inverse_share).div_ceil(WHOLE);
        (time + takes).saturating_sub(job.period)
    }

    /// A budget begins at this time.
    fn fill(&mut self, threads: &Threads, thread: ThreadIndex, begin: u64) {
        let job = &mut self.jobs[thread as usize];
        let class = if job.budget == 0 { BACKGROUND } else { 0 };
        job.own = (begin + job.period).min(!BACKGROUND) | class;
        job.from = threads[thread as usize].used();
    }

    #[inline(always)]
    fn heap_of(&mut self, thread: ThreadIndex) -> &mut ThreadIndex {
        &mut self.first[(self.jobs[thread as usize].counts >> 63) as usize]
    }
}

impl ReadyQueue for EarliestDeadline {
    const ZERO: EarliestDeadline = EarliestDeadline {
        first: [IDLE; 2],
        unit: 0,
        turn: 0,
        rate: 0,
        jobs: [Job {
            period: 0,
            budget: 0,
            inverse_share: 0,
            from: 0,
            own: 0,
            counts: 0,
            woken: 0,
            held_up: 0,
        }; 256],
        inverse_shares: [0; INSTANCES_MAXIMUM],
        paid: [0; INSTANCES_MAXIMUM],
    };
    const BUDGETS: bool = true;

    fn start(&mut self, run_rate: u64) {
        self.rate = run_rate.max(1);
        self.set_unit(1);
    }

    fn each_ready(&self, threads: &Threads, end: usize, mut each: impl FnMut(ThreadIndex)) {
        // Equal deadlines have no order.
        let numbers = (0..=ThreadIndex::MAX).zip(threads.iter().take(end)).skip(1);
        numbers.filter(|(_, thread)| thread.runnable()).for_each(|(number, _)| each(number));
    }

    #[inline(always)]
    fn first(&self) -> ThreadIndex {
        match self.first {
            [IDLE, background] => background,
            [first, _] => first,
        }
    }

    #[inline(always)]
    fn insert(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool {
        threads[thread as usize].set_wait_key(self.jobs[thread as usize].counts);
        heap::insert::<ByWaitKey>(threads, self.heap_of(thread), thread);
        self.first() == thread
    }

    fn insert_front(&mut self, threads: &mut Threads, thread: ThreadIndex) {
        // Equal deadlines have no order.
        self.insert(threads, thread);
    }

    #[inline(always)]
    fn remove(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool {
        heap::remove::<ByWaitKey>(threads, self.heap_of(thread), thread);
        false
    }

    #[inline(always)]
    fn remove_first(&mut self, threads: &mut Threads, first: ThreadIndex) -> bool {
        self.remove(threads, first)
    }

    fn rotate(&mut self, _: &mut Threads, first: ThreadIndex, now: u64) {
        // A later deadline of the same budget, or a later budget: nobody gets more by a yield. Always later, or two threads
        // that yield within a tick would not take turns.
        let job = &mut self.jobs[first as usize];
        let (class, time) = (job.own & BACKGROUND, job.own & !BACKGROUND);
        job.own = class | (now + job.period).max(time + 1).min(!BACKGROUND);
    }

    fn quantum_used(&mut self, _: &mut Threads, _: ThreadIndex, _: u64) {
        // Budgets are marked, no quanta.
    }

    #[inline(always)]
    fn behind_first(&self) -> u16 {
        256
    }

    #[inline(always)]
    fn shares(&self, threads: &Threads) -> bool {
        match self.first {
            // If only one is a thread, that one. Nothing is below the idle thread.
            [first, background] if first == IDLE || background == IDLE => {
                heap::has_several::<ByWaitKey>(threads, first | background)
            }
            _ => true,
        }
    }

    #[inline(always)]
    fn urgency(&self, _: &Threads, thread: ThreadIndex) -> u64 {
        self.jobs[thread as usize].counts
    }

    #[inline(always)]
    fn class(&self, _urgency: u64) -> u8 {
        // A deadline says nothing about those that are not known yet.
        0
    }

    #[inline(always)]
    fn own_urgency(&self, _: &Threads, thread: ThreadIndex) -> u64 {
        self.jobs[thread as usize].own
    }

    #[inline(always)]
    fn set_urgency(&mut self, _: &mut Threads, thread: ThreadIndex, urgency: u64) {
        self.jobs[thread as usize].counts = urgency;
    }

    fn set_priority(&mut self, threads: &mut Threads, thread: ThreadIndex, priority: u8, now: u64) {
        threads[thread as usize].note_priority(priority);
        self.set_period(threads, thread, 0, priority, now);
    }

    #[inline(never)]
    fn release(&mut self, threads: &Threads, thread: ThreadIndex, time: u64) {
        self.jobs[thread as usize].woken = time;
        let paid = self.paid_at(threads, thread);
        if paid <= time {
            return self.fill(threads, thread, time);
        }
        // It has run ahead of its share: what is left of budget and time is what it has.
        let job = &mut self.jobs[thread as usize];
        if job.own & BACKGROUND != 0 {
            job.own = paid | BACKGROUND;
            job.from = threads[thread as usize].used();
        }
    }

    #[inline(always)]
    fn wait_key(&self, _: &Threads, thread: ThreadIndex, _sequence: u64) -> u64 {
        self.jobs[thread as usize].counts
    }

    fn begin(&mut self, thread: ThreadIndex, home: usize, now: u64) {
        // Instead of one that has ended, not beside it.
        let own = self.paid[home % INSTANCES_MAXIMUM] | BACKGROUND;
        let inverse_share = self.inverse_shares[home % INSTANCES_MAXIMUM];
        let none = EarliestDeadline::ZERO.jobs[0];
        self.jobs[thread as usize] = Job { own, inverse_share, woken: now, ..none };
    }

    fn end(&mut self, threads: &Threads, thread: ThreadIndex, home: usize, now: u64) {
        let paid = self.paid_at(threads, thread);
        let last = &mut self.paid[home % INSTANCES_MAXIMUM];
        *last = paid.max(*last);
        // Whoever gets its locks was not held up by others' budgets.
        self.jobs[thread as usize].woken = now;
    }

    fn charge(&mut self, running: ThreadIndex, payer: ThreadIndex, ran: u64) {
        for (thread, change) in [(running, ran), (payer, ran.wrapping_neg())] {
            let from = &mut self.jobs[thread as usize].from;
            *from = from.wrapping_add(change);
        }
    }

    #[inline(always)]
    fn next_change(&self, threads: &Threads, payer: ThreadIndex, time: u64) -> u64 {
        let job = &self.jobs[payer as usize];
        // In the background it is one unit's turn.
        let most = if job.own & BACKGROUND != 0 { self.turn } else { job.budget };
        let left = most.saturating_sub(self.ran(threads, payer));
        // `div_ceil` takes longer: it looks what is left.
        #[allow(clippy::manual_div_ceil)]
        let end = time + (left + self.rate - 1) / self.rate;
        match self.first[1] {
            IDLE => end,
            next => end.min(self.jobs[next as usize].counts & !BACKGROUND),
        }
    }

    fn next_to_refill(&self, now: u64) -> ThreadIndex {
        match self.first[1] {
            next if self.jobs[next as usize].counts & !BACKGROUND <= now => next,
            _ => IDLE,
        }
    }

    fn is_used_up(&self, _: &Threads, thread: ThreadIndex) -> bool {
        self.jobs[thread as usize].own & BACKGROUND != 0
    }

    fn change_budget(&mut self, threads: &Threads, thread: ThreadIndex, now: u64) -> bool {
        let (ran, paid) = (self.ran(threads, thread), self.paid_at(threads, thread));
        let (turn, rate) = (self.turn, self.rate);
        let job = &mut self.jobs[thread as usize];
        let (in_background, time) = (job.own & BACKGROUND != 0, job.own & !BACKGROUND);
        if ran < if in_background { turn } else { job.budget } && (now < time || !in_background) {
            return false;
        }
        if now >= if in_background { time } else { paid } {
            self.fill(threads, thread, now);
            return true;
        }
        // What it got in the background, it waits longer: those behind it get their turn. So it pays for what was more than its
        // budget, since the timer comes at a tick, and not while interrupts are off.
        let refill = if in_background {
            time.saturating_add(ran / rate)
        } else if now < time {
            let over = (ran - job.budget).saturating_mul(job.inverse_share);
            time.saturating_add(over.div_ceil(WHOLE))
        } else {
            paid
        };
        job.own = refill.min(!BACKGROUND) | BACKGROUND;
        job.from = threads[thread as usize].used();
        true
    }

    fn woken(&self, thread: ThreadIndex) -> u64 {
        self.jobs[thread as usize].woken
    }

    fn hold_up(&mut self, thread: ThreadIndex, now: u64) {
        self.jobs[thread as usize].held_up = now;
    }

    fn resume_held_up(
        &mut self,
        threads: &Threads,
        thread: ThreadIndex,
        woken: u64,
        now: u64,
    ) -> bool {
        let job = &mut self.jobs[thread as usize];
        if woken <= job.held_up {
            job.woken = job.woken.max(woken);
            return false;
        }
        job.held_up = now;
        let before = job.own;
        self.release(threads, thread, now);
        self.jobs[thread as usize].own != before
    }
}

#[cfg(test)]
mod tests;
