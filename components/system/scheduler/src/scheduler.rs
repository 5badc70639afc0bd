//! The scheduler's state, and the steps that every operation is made of.

use crate::bitmap::Bitmap;
use crate::budgets::Payer;
use crate::classes::ByClass;
use crate::faults::Faults;
use crate::locks::{LOCKS, Lock, Shares};
use crate::machine::Machine;
use crate::quota::{Accounts, Tenant};
use crate::ready::ReadyQueue;
use crate::semaphores::{SEMAPHORES, Semaphore};
use crate::stacks::StackQueues;
use crate::thread::{
    Handle, IDLE, Links, STOPPED, State, THROTTLED, TIMED, Thread, ThreadIndex, Threads,
};
use crate::throttle::Throttle;
use crate::worker::Worker;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// What the system description decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Ticks that a thread runs before an equal one takes its turn.
    pub quantum: u64,
    /// What the run clock counts in a tick.
    pub run_rate: u64,
    /// The semaphore that is raised for each thread that faults.
    pub supervisor_semaphore: u16,
    /// Threads that the machine has blocks for, [`IDLE`] included.
    pub threads: usize,
}

/// A scheduler with policy `Q` on machine `M`. In each operation, `thread` is the running thread,
/// `instance` the one that called, `now` what the run clock says: the clock by which the threads' execution is counted. What has
/// to do with the timer asks the machine for the time ([`Machine::time`]).
#[repr(C)]
pub struct Scheduler<Q, M> {
    // The hot paths reach everything up to the first threads' records by 12-bit offsets from one
    // base, and every thread by one more addition.
    /// When the running thread was switched to.
    pub(crate) running_since: u64,
    /// Order of arrival among waiters.
    pub(crate) sequence: u64,
    /// The machine's timer is set to this time.
    pub(crate) armed: u64,
    /// When the next quantum ends; 0 while the timer marks no quanta.
    pub(crate) next_tick: u64,
    /// When the timer has to come for a processor budget; all ones: not.
    pub(crate) throttle_at: u64,
    /// The same while work is deferred.
    pub(crate) throttle_deferred_at: u64,
    /// What the hart's word is while no wake-up is noted.
    pub(crate) threshold: i64,
    /// Root of the heap of threads with a time limit.
    pub(crate) timers: ThreadIndex,
    /// Some operation left work.
    pub(crate) left: bool,
    /// Work or limits of [`Scheduler::deferred_class`] wait until a less urgent thread can run.
    pub(crate) deferred: bool,
    pub(crate) deferred_class: u8,
    /// The thread to which the last end, or the last operation that may take long, led.
    pub(crate) led_to: ThreadIndex,
    /// Who pays for the thread that runs.
    pub(crate) payer: Payer,
    /// The thread whose wait the next interrupt of the timer ends, if it is [`EXPIRED`] then.
    pub(crate) expiring: ThreadIndex,
    pub(crate) machine: M,
    pub(crate) ready: Q,
    /// For each semaphore, the root of the heap of waiting threads.
    pub(crate) roots: [ThreadIndex; SEMAPHORES],
    pub(crate) threads: Threads,
    pub(crate) semaphores: [Semaphore; SEMAPHORES],
    pub(crate) stacks: StackQueues,
    pub(crate) locks: [Lock; LOCKS],
    /// Of whose locks each thread holds how many.
    pub(crate) shares: [Shares; 256],
    /// Threads whose urgency may not be what is due.
    pub(crate) unsettled: ByClass,
    /// Threads whose key another scheduler made.
    pub(crate) unkeyed: Bitmap<4>,
    /// Locks that may not lend what their first waiter has.
    pub(crate) stale: ByClass,
    /// Threads that have ended and still hold locks.
    pub(crate) ending: ByClass,
    /// The supervisor is to be called, on behalf of a thread of this urgency; all ones: it is not.
    pub(crate) alarm: u64,
    /// The rough class of that urgency, as a bit; zero: it is not.
    pub(crate) alarm_class: u64,
    /// The rough classes, as bits, in which all stack queues are to be looked at again.
    pub(crate) look_classes: u64,
    /// No work that is left has a more urgent class, but the look at stack queues.
    pub(crate) work_class: u8,
    /// A look at stack queues comes before other work.
    pub(crate) looks_next: bool,
    /// When work that is deferred goes on all the same.
    pub(crate) forced_at: u64,
    pub(crate) accounts: Accounts,
    /// The instances that have one.
    pub(crate) present: Bitmap<{ INSTANCES_MAXIMUM / 64 }>,
    /// The instance in which each thread began, which pays for it.
    pub(crate) homes: [Tenant; 256],
    pub(crate) faults: Faults,
    pub(crate) free_threads: Bitmap<4>,
    pub(crate) free_semaphores: Bitmap<16>,
    pub(crate) free_locks: Bitmap<4>,
    /// Instances whose first thread has ended, which the supervisor has not asked for yet.
    pub(crate) returned: Bitmap<{ INSTANCES_MAXIMUM / 64 }>,
    pub(crate) configuration: Configuration,
    /// A quantum by the run clock.
    pub(crate) run_quantum: u64,
    pub(crate) worker: Worker,
    pub(crate) throttle: Throttle,
    /// [`Scheduler::payer`] is not only on the way to that.
    pub(crate) payer_is_found: bool,
    /// How long threads that have ended ran, by the run clock, by where they began.
    pub(crate) ended: [u64; INSTANCES_MAXIMUM],
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// A scheduler before [`Scheduler::start`], which comes before any operation. It is all zeros, so
    /// that a component's image does not carry it.
    pub const fn new(machine: M) -> Self {
        Scheduler {
            threads: [Thread::ZERO; 256],
            ready: Q::ZERO,
            running_since: 0,
            sequence: 0,
            armed: 0,
            next_tick: 0,
            threshold: 0,
            timers: IDLE,
            left: false,
            deferred: false,
            deferred_class: 0,
            led_to: IDLE,
            shares: [Shares::NONE; 256],
            unsettled: ByClass::EMPTY,
            unkeyed: Bitmap::EMPTY,
            stale: ByClass::EMPTY,
            ending: ByClass::EMPTY,
            alarm: 0,
            alarm_class: 0,
            look_classes: 0,
            work_class: 0,
            looks_next: false,
            expiring: IDLE,
            forced_at: 0,
            configuration: Configuration {
                quantum: 0,
                run_rate: 0,
                supervisor_semaphore: 0,
                threads: 0,
            },
            run_quantum: 0,
            machine,
            roots: [IDLE; SEMAPHORES],
            semaphores: [Semaphore::FREE; SEMAPHORES],
            stacks: StackQueues::NONE,
            locks: [Lock::FREE; LOCKS],
            accounts: Accounts::NONE,
            present: Bitmap::EMPTY,
            homes: [Tenant::NOBODY; 256],
            faults: Faults::NONE,
            free_threads: Bitmap::EMPTY,
            free_semaphores: Bitmap::EMPTY,
            free_locks: Bitmap::EMPTY,
            returned: Bitmap::EMPTY,
            worker: Worker::ZERO,
            payer: Payer::UNKNOWN,
            payer_is_found: false,
            throttle_at: 0,
            throttle_deferred_at: 0,
            throttle: Throttle::NONE,
            ended: [0; INSTANCES_MAXIMUM],
        }
    }

    /// Before anything else, once: there is no thread but [`IDLE`], everything is free. The words of all semaphores are
    /// closed already.
    pub fn start(&mut self, configuration: Configuration) {
        self.configuration = configuration;
        self.run_quantum = configuration.quantum * configuration.run_rate;
        self.armed = u64::MAX;
        (self.throttle_at, self.throttle_deferred_at) = (u64::MAX, u64::MAX);
        self.work_class = u8::MAX;
        self.forced_at = u64::MAX;
        (self.worker, self.alarm) = (Worker::NONE, u64::MAX);
        self.ready.start(configuration.run_rate);
        // The rest of a record is written when its thread begins.
        for thread in &mut self.threads {
            thread.state = State::Free;
        }
        self.threads[IDLE as usize] = Thread { state: State::Ready, ..Thread::FREE };
        self.free_threads = Bitmap::between(1, configuration.threads);
        self.free_semaphores = Bitmap::between(0, SEMAPHORES);
        self.free_locks = Bitmap::between(1, LOCKS);
    }

    /// Switches to the first thread, when the system starts.
    pub fn run(&mut self, now: u64) -> M::Outcome {
        self.running_since = now;
        self.blocked(IDLE, now)
    }

    /// The machine.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine, to take over from the layout before anything else.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// The semaphore that is raised for each thread that faults.
    pub fn set_supervisor_semaphore(&mut self, semaphore: u16) {
        self.configuration.supervisor_semaphore = semaphore;
    }

    /// The instance where a thread began.
    pub fn home(&self, thread: ThreadIndex) -> InstanceId {
        self.homes[thread as usize].instance()
    }

    /// A thread's own priority.
    pub fn own_priority(&self, thread: ThreadIndex) -> u8 {
        255 - self.threads[thread as usize].own_level
    }

    /// The policy, to configure it before threads are adopted.
    pub fn policy(&mut self) -> &mut Q {
        &mut self.ready
    }

    /// What a thread waits for.
    pub fn state(&self, thread: ThreadIndex) -> State {
        self.threads[thread as usize].state
    }

    /// Whether the supervisor keeps a thread from running.
    pub fn is_stopped(&self, thread: ThreadIndex) -> bool {
        self.threads[thread as usize].flags & STOPPED != 0
    }

    /// Whether a thread's processor budget keeps it from running.
    pub fn is_throttled(&self, thread: ThreadIndex) -> bool {
        self.threads[thread as usize].flags & THROTTLED != 0
    }

    /// Whether the time limit of a thread's wait has passed: it would run, if no more urgent thread put that off.
    pub fn is_due(&self, thread: ThreadIndex, time: u64) -> bool {
        let Thread { flags, time_limit, .. } = self.threads[thread as usize];
        flags & TIMED != 0 && time_limit <= time
    }

    /// The thread that runs.
    pub fn running(&self) -> ThreadIndex {
        self.ready.first()
    }

    /// The name of a thread that exists.
    pub fn handle(&self, thread: ThreadIndex) -> Result<Handle, Error> {
        let record = &self.threads[thread as usize];
        match record.state {
            State::Free | State::Ending => Err(Error::NotFound),
            _ => Ok(Handle::new(thread, record.generation)),
        }
    }

    /// Ticks that a thread ran until now.
    pub fn time_used(&self, thread: ThreadIndex, now: u64) -> u64 {
        let mut used = self.threads[thread as usize].used;
        if thread == self.ready.first() {
            used = used.wrapping_add(now.wrapping_sub(self.running_since));
        }
        used / self.configuration.run_rate.max(1)
    }

    /// Ticks that threads ran which began in `instance` and have ended.
    pub fn time_ended(&self, instance: InstanceId) -> Result<u64, Error> {
        let ended = self.ended.get(instance.index()).ok_or(Error::BadArgument)?;
        Ok(ended / self.configuration.run_rate.max(1))
    }

    /// The time for the policy, which is zero if it does not go by times.
    #[inline(always)]
    pub(crate) fn policy_time(&self, now: u64) -> u64 {
        if Q::BUDGETS { self.machine.time(now) } else { 0 }
    }

    /// When the thread that runs was switched to, by the run clock.
    pub fn running_since(&self) -> u64 {
        self.running_since
    }

    #[inline(always)]
    pub(crate) fn set_word(&mut self, semaphore: u16, value: i64) {
        self.machine.semaphore(semaphore)[0].store(value, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn word(&self, semaphore: u16) -> i64 {
        self.machine.semaphore(semaphore)[0].load(Relaxed)
    }

    /// Ends an operation with an error.
    #[inline(always)]
    pub(crate) fn refuse(&mut self, error: Error) -> M::Outcome {
        self.machine.reply(error.status(), 0)
    }

    #[inline(always)]
    pub(crate) fn account(&mut self, running: ThreadIndex, now: u64) {
        let record = &mut self.threads[running as usize];
        record.used = record.used.wrapping_add(now.wrapping_sub(self.running_since));
        if Q::BUDGETS && self.payer.of != IDLE && self.payer.of == running {
            self.charge_payer(running, now.wrapping_sub(self.running_since));
        }
        self.running_since = now;
    }

    /// Accounts the time of `from`, which ran, and goes on with `to`, which is first.
    #[inline(always)]
    pub(crate) fn switch(&mut self, from: ThreadIndex, to: ThreadIndex, now: u64) -> M::Outcome {
        let Thread { status, value, .. } = self.threads[to as usize];
        self.switch_with(from, to, status, value, now)
    }

    /// [`Scheduler::switch`] with a result for `to`.
    #[inline(always)]
    pub(crate) fn switch_with(
        &mut self,
        from: ThreadIndex,
        to: ThreadIndex,
        status: i8,
        value: u64,
        now: u64,
    ) -> M::Outcome {
        self.account(from, now);
        if Q::BUDGETS || self.next_tick == 0 && self.ready.shares(&self.threads) {
            return Self::switch_ticking(status, value, to, now, self);
        }
        self.machine.switch(to, status.into(), value)
    }

    // Rare paths are functions of their own, called last: the common path then saves no registers.
    // Their parameters are where the common path has them anyway: first those of the portal.
    #[cold]
    #[inline(never)]
    fn switch_ticking(
        status: i8,
        value: u64,
        to: ThreadIndex,
        now: u64,
        scheduler: &mut Self,
    ) -> M::Outcome {
        if Q::BUDGETS {
            scheduler.payer = Payer::UNKNOWN;
            scheduler.mark_budgets(to, now);
        } else {
            scheduler.start_ticking(now);
        }
        scheduler.machine.switch(to, status.into(), value)
    }

    /// What `thread` gets when it goes on.
    #[inline(always)]
    pub(crate) fn set_result(&mut self, thread: ThreadIndex, status: i8, value: u64) {
        let record = &mut self.threads[thread as usize];
        record.status = status;
        record.value = value;
    }

    /// Ends an operation of `thread`: the first thread goes on, which may be `thread` itself, now or
    /// later with this result.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        thread: ThreadIndex,
        status: i8,
        value: u64,
        now: u64,
    ) -> M::Outcome {
        let first = self.ready.first();
        if first == thread {
            return self.go_on(status, value, now);
        }
        self.set_result(thread, status, value);
        self.switch(thread, first, now)
    }

    /// Ends an operation: the thread that called is first.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, status: i8, value: u64, now: u64) -> M::Outcome {
        if Q::BUDGETS || self.next_tick == 0 && self.ready.shares(&self.threads) {
            return self.reply_ticking(status, value, now);
        }
        self.machine.reply(status.into(), value)
    }

    #[cold]
    #[inline(never)]
    fn reply_ticking(&mut self, status: i8, value: u64, now: u64) -> M::Outcome {
        if Q::BUDGETS {
            self.mark_budgets(self.ready.first(), now);
        } else {
            self.start_ticking(now);
        }
        self.machine.reply(status.into(), value)
    }

    /// The running thread, not [`IDLE`], begins to wait; the caller puts it into the object's queue. True if a thread
    /// of another class is first now.
    #[inline(always)]
    pub(crate) fn block(
        &mut self,
        thread: ThreadIndex,
        tenant: Tenant,
        state: State,
        object: u16,
    ) -> bool {
        debug_assert_eq!(thread, self.ready.first());
        let record = &mut self.threads[thread as usize];
        record.state = state;
        record.object = object;
        record.waits_in = tenant;
        self.ready.remove_first(&mut self.threads, thread)
    }

    /// Ends an operation in which `thread` began to wait: the first thread goes on.
    #[inline(always)]
    pub(crate) fn blocked(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        self.renew_threshold();
        if self.deferred {
            self.take_up();
        }
        let first = self.ready.first();
        self.switch(thread, first, now)
    }

    /// [`Scheduler::blocked`] after what may have taken long.
    pub(crate) fn blocked_at_last(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        self.led_to = self.ready.first();
        self.blocked(thread, now)
    }

    /// `thread` is not ready any more.
    #[inline(always)]
    pub(crate) fn unready(&mut self, thread: ThreadIndex) {
        if self.ready.remove(&mut self.threads, thread) {
            self.note_nothing();
        }
    }

    /// The key of a thread that begins to wait behind `root`.
    #[inline(always)]
    pub(crate) fn set_wait_key(&mut self, thread: ThreadIndex, root: ThreadIndex) {
        // Zero is before every later arrival, and there is no earlier one.
        let sequence = if root == IDLE {
            0
        } else {
            if self.threads[root as usize].wait == Links::EMPTY {
                // It may have begun to wait without a key.
                let key = self.ready.wait_key(&self.threads, root, 0);
                let record = &mut self.threads[root as usize];
                record.wait_key = if record.flags & THROTTLED == 0 { key } else { u64::MAX };
            }
            self.sequence += 1;
            self.sequence
        };
        self.threads[thread as usize].wait_key =
            self.ready.wait_key(&self.threads, thread, sequence);
    }
}
