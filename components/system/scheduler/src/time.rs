//! Yield, sleep, time limits, quanta.

use crate::classes::{CLASS_BITS, ROUGHLY};
use crate::heap::{self, Order};
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{EXPIRED, IDLE, Links, State, TIMED, Thread, ThreadIndex, Threads};
use cairn_abi::{Error, InstanceId};

/// By [`Thread::time_limit`]. A place begins with the rough class of a limit, so that the heap also tells the first
/// limit of the most urgent class.
pub(crate) struct ByTimeLimit;

impl Order for ByTimeLimit {
    type Item = Thread;
    const BITS: u32 = CLASS_BITS + ThreadIndex::BITS;

    #[inline(always)]
    fn key(thread: &Thread) -> u64 {
        thread.time_limit
    }
    #[inline(always)]
    fn place(index: u8, thread: &Thread) -> u64 {
        u64::from(thread.limit_class) << (u64::BITS - u8::BITS)
            | u64::from(index) << (u64::BITS - Self::BITS)
    }
    #[inline(always)]
    fn links(thread: &Thread) -> &Links {
        &thread.timer
    }
    #[inline(always)]
    fn links_mut(thread: &mut Thread) -> &mut Links {
        &mut thread.timer
    }
}

/// Of the limits that have passed, the first of the most urgent class; [`IDLE`]: none has. If there is `one_class`, that is
/// the first limit.
#[inline(always)]
pub(crate) fn passed(
    threads: &Threads,
    root: ThreadIndex,
    now: u64,
    one_class: bool,
) -> ThreadIndex {
    let record = &threads[root as usize];
    if root == IDLE || record.time_limit > now {
        return IDLE;
    }
    if one_class || record.timer == Links::EMPTY {
        return root;
    }
    passed_among(threads, root, now)
}

/// [`passed`], of several.
#[inline(never)]
fn passed_among(threads: &Threads, root: ThreadIndex, now: u64) -> ThreadIndex {
    let is_past =
        |thread: ThreadIndex| thread != IDLE && threads[thread as usize].time_limit <= now;
    // The way leads to the most urgent class with a limit that has passed. Keys grow along it, so the first
    // of that class that is met is the first to end.
    let (mut first, mut at) = (root, root);
    for _ in 0..=CLASS_BITS {
        if !is_past(at) {
            break;
        }
        let record = &threads[at as usize];
        if record.limit_class < threads[first as usize].limit_class {
            first = at;
        }
        let [left, right] = record.timer.below;
        at = if is_past(left) { left } else { right };
    }
    first
}

/// The first limit of all classes more urgent than `class`; all ones: none.
pub(crate) fn first_before(threads: &Threads, root: ThreadIndex, class: u8) -> u64 {
    let (mut first, mut at) = (u64::MAX, root);
    for depth in 0..CLASS_BITS {
        if at == IDLE {
            break;
        }
        let record = &threads[at as usize];
        if record.limit_class < class {
            return first.min(record.time_limit);
        }
        let [left, right] = record.timer.below;
        at = if class << depth >> (u8::BITS - 1) == 0 {
            left
        } else {
            if left != IDLE {
                first = first.min(threads[left as usize].time_limit);
            }
            right
        };
    }
    first
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Lets the other threads of the same priority run first.
    #[inline(always)]
    pub fn yield_now(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        if thread == IDLE {
            return self.machine.reply(0, 0);
        }
        let time = self.policy_time(now);
        self.ready.rotate(&mut self.threads, thread, time);
        if Q::BUDGETS {
            self.settle_aside(thread);
        }
        self.finish(thread, 0, 0, now)
    }

    /// Waits until the time is `deadline`.
    pub fn sleep_until(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        deadline: u64,
        now: u64,
    ) -> M::Outcome {
        if thread == IDLE {
            return self.refuse(Error::NotAllowed);
        }
        if deadline <= self.machine.time(now) {
            if Q::BUDGETS {
                // No wait, but the event was there: a thread that is late begins its next job, now, since it ran until now.
                self.account(thread, now);
                self.ready.remove_first(&mut self.threads, thread);
                self.note_release(thread, self.policy_time(now));
                self.ready.insert(&mut self.threads, thread);
            }
            return self.finish(thread, 0, 0, now);
        }
        self.block(thread, Tenant::calling(instance), State::Sleep, 0);
        self.limit(thread, deadline);
        self.blocked_at_last(thread, now)
    }

    /// The timer's interrupt, while `thread` ran: ends a wait whose time limit has passed, or does work that was
    /// left, whichever may let the more urgent thread run; and ends the running thread's quantum. Returns to
    /// `thread` or switches; sets the timer, which comes at once if there is more to do.
    #[inline(always)]
    pub fn tick(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        let time = self.machine.time(now);
        // The thread that ran, ran until now, even if another thread is first in a moment.
        if thread == IDLE && self.ready.first() != IDLE {
            // The end of a thread went by way of it: that others were ready has to show.
            self.running_since = now;
        } else {
            self.account(thread, now);
        }
        let (mut works, mut changes) = (false, false);
        if self.expiring != IDLE {
            self.end_expired();
        } else if time >= self.throttle_at && self.look_at_budgets(time) {
            works = true;
        } else {
            let due = passed(&self.threads, self.timers, time, Q::BUDGETS);
            if due != IDLE || self.left {
                works = self.left;
                self.expire_or_work(due, time);
            } else {
                self.deferred = false;
                changes = self.next_tick != 0 && time >= self.next_tick;
            }
        }
        if Q::BUDGETS {
            return self.end_tick(thread, works, changes, time);
        }
        if self.next_tick != 0 && time >= self.next_tick {
            let record = &mut self.threads[thread as usize];
            let ran = record.used.wrapping_sub(record.quantum_from);
            if ran >= self.run_quantum {
                record.quantum_from = record.used;
                if thread == self.ready.first() && thread != IDLE {
                    self.ready.quantum_used(&mut self.threads, thread, time);
                }
            }
            let shares = self.ready.shares(&self.threads);
            self.next_tick = if shares { time.wrapping_add(self.configuration.quantum) } else { 0 };
            self.renew_threshold();
        }
        self.arm(time);
        self.led_to = self.ready.first();
        // `now`, which nothing has to keep until here.
        self.finish(thread, 0, 0, self.running_since)
    }

    /// Ends the wait that timed out at the last interrupt, if nothing else has ended it since.
    #[inline(never)]
    fn end_expired(&mut self) {
        let thread = core::mem::replace(&mut self.expiring, IDLE);
        let Thread { flags, time_limit, .. } = self.threads[thread as usize];
        if flags & EXPIRED != 0 {
            self.end_wait(thread, Error::TimedOut.status() as i8, time_limit);
        }
    }

    /// Ends the wait of `due`, whose limit has passed, or does work, or neither, if a more urgent thread runs.
    #[inline(always)]
    fn expire_or_work(&mut self, due: ThreadIndex, time: u64) {
        let Thread { limit_class, time_limit, state, .. } = self.threads[due as usize];
        let expires = due != IDLE && (!self.left || limit_class <= self.work_class);
        let class = if expires { limit_class } else { self.work_class };
        let forced = self.deferred && time >= self.forced_at;
        if !forced && self.outranks(self.ready.first(), class) {
            self.defer(class, time);
            return;
        }
        self.deferred = false;
        if expires {
            if state == State::Sleep {
                self.wake(due, 0, time_limit);
            } else {
                // To look for it and to take it out here is enough for now; the timer comes back at once.
                heap::remove::<ByTimeLimit>(&mut self.threads, &mut self.timers, due);
                let record = &mut self.threads[due as usize];
                record.flags = record.flags & !TIMED | EXPIRED;
                self.expiring = due;
            }
        } else {
            self.do_work(self.running_since);
        }
    }

    /// When the wait of `thread` ends at the latest.
    pub(crate) fn limit(&mut self, thread: ThreadIndex, deadline: u64) {
        let record = &mut self.threads[thread as usize];
        record.time_limit = deadline;
        record.flags |= TIMED;
        let class = self.ready.class(self.ready.urgency(&self.threads, thread));
        self.threads[thread as usize].limit_class = class & ROUGHLY;
        heap::insert::<ByTimeLimit>(&mut self.threads, &mut self.timers, thread);
        self.arm_before(deadline);
    }

    /// Two threads share the processor from now on: the timer marks quanta.
    pub(crate) fn start_ticking(&mut self, now: u64) {
        self.next_tick = self.machine.time(now).saturating_add(self.configuration.quantum);
        self.arm_before(self.next_tick);
        self.renew_threshold();
    }

    pub(crate) fn arm_before(&mut self, time: u64) {
        if time < self.armed {
            self.armed = time;
            self.machine.set_timer(time);
        }
    }

    /// After the timer's interrupt, sets the timer to whatever comes first. A limit that is taken back meanwhile costs a needless
    /// interrupt, not a needless setting of the timer for each wait.
    pub(crate) fn arm(&mut self, present: u64) {
        let mut time = u64::MAX;
        if self.expiring != IDLE {
            // At once, and so what budgets need.
            time = present;
        } else if self.deferred {
            // Only what is more urgent than what is deferred comes in time.
            time = self.first_more_urgent().min(self.forced_at).min(self.throttle_deferred_at);
        } else {
            if self.timers != IDLE {
                time = self.threads[self.timers as usize].time_limit;
            }
            if self.left {
                time = time.min(self.put_off(self.running_since));
            }
            time = time.min(self.throttle_at);
        }
        if self.next_tick != 0 {
            time = time.min(self.next_tick);
        }
        // A timer that is not set again stays at a time that has passed: it comes at once.
        if time > present {
            self.armed = time;
            self.machine.set_timer(time);
        }
    }

    /// The first limit that can be more urgent than what is deferred.
    fn first_more_urgent(&self) -> u64 {
        match self.deferred_class {
            // Whatever is not more urgent by a rough class could have passed already.
            class if class & !ROUGHLY == 0 => first_before(&self.threads, self.timers, class),
            class if class < ROUGHLY => {
                first_before(&self.threads, self.timers, (class | !ROUGHLY) + 1)
            }
            _ if self.timers == IDLE => u64::MAX,
            _ => self.threads[self.timers as usize].time_limit,
        }
    }
}
