//! Threads begin, end, wait for each other's end, change priority.

use crate::machine::{Machine, Start};
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{Handle, IDLE, NONE, STOPPED, State, Thread, ThreadIndex, Threads};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Takes over a thread that the layout has set up, before [`Scheduler::run`]. It need not fit into
    /// the instance's quota, but counts.
    pub fn adopt_thread(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        priority: u8,
    ) -> Result<(), Error> {
        let home = Tenant::of(instance)?;
        if !self.free_threads.contains(thread.into()) {
            return Err(Error::Busy);
        }
        self.admit(thread, home, priority, 0);
        Ok(())
    }

    /// Begins a thread in the calling instance; the value is its [`Handle`].
    pub fn spawn(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        start: Start,
        priority: u64,
        now: u64,
    ) -> M::Outcome {
        match self.try_spawn(Tenant::calling(instance), start, priority, now) {
            Ok(handle) => self.finish(thread, 0, handle.0, now),
            Err(error) => self.refuse(error),
        }
    }

    /// Begins the first thread of an instance that starts again: [`Scheduler::spawn`], but its end is reported.
    pub fn start_first(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        start: Start,
        priority: u64,
        now: u64,
    ) -> M::Outcome {
        let home = Tenant::of(instance);
        match home.and_then(|home| self.try_spawn(home, start, priority, now)) {
            Ok(handle) => {
                self.set_first_thread(handle.thread());
                self.lift_budgets(self.homes[handle.thread() as usize], false);
                self.returned.clear(instance.index());
                self.finish(thread, 0, handle.0, now)
            }
            Err(error) => self.refuse(error),
        }
    }

    /// The thread that runs when no other does begins anew in its instance: not by a call of its own, which does not run then. What it did is abandoned.
    pub fn idle_anew(&mut self, instance: InstanceId, start: Start) -> Result<(), Error> {
        self.machine.set_up_thread(IDLE, instance, &start)
    }

    /// The end of this thread is reported by [`Scheduler::next_returned`] as that of its instance.
    pub fn set_first_thread(&mut self, thread: ThreadIndex) {
        self.accounts[self.homes[thread as usize]].first = thread;
    }

    /// The next instance whose first thread has ended, and that was not reported yet.
    pub fn next_returned(&mut self) -> Result<InstanceId, Error> {
        let instance = self.returned.first().ok_or(Error::NotFound)?;
        self.returned.clear(instance);
        Ok(InstanceId(instance as u16))
    }

    fn try_spawn(
        &mut self,
        home: Tenant,
        start: Start,
        priority: u64,
        now: u64,
    ) -> Result<Handle, Error> {
        let priority = self.allowed_priority(home, priority)?;
        let account = &self.accounts[home];
        if account.threads >= account.quota.threads {
            return Err(Error::Exhausted);
        }
        let new = self.free_threads.first().ok_or(Error::Exhausted)? as ThreadIndex;
        self.machine.set_up_thread(new, home.instance(), &start)?;
        self.admit(new, home, priority, now);
        Ok(Handle::new(new, self.threads[new as usize].generation))
    }

    fn admit(&mut self, thread: ThreadIndex, home: Tenant, priority: u8, now: u64) {
        self.free_threads.clear(thread.into());
        self.homes[thread as usize] = home;
        // Saturating: only threads of the layout can exceed the quota.
        let account = &mut self.accounts[home];
        account.threads = account.threads.saturating_add(1);
        let has_budget = account.budget != 0;
        let record = &mut self.threads[thread as usize];
        *record = Thread { generation: record.generation, state: State::Ready, ..Thread::FREE };
        self.faults.begin(thread);
        let time = self.policy_time(now);
        if Q::BUDGETS {
            self.ready.begin(thread, home.instance().index(), time);
        }
        self.ready.set_priority(&mut self.threads, thread, priority, time);
        self.refresh_urgency(thread);
        self.ready.insert(&mut self.threads, thread);
        if has_budget {
            self.begin_throttled(thread);
        }
    }

    /// The running thread ends. Its locks go to their waiters, a thread that waits for its end goes on.
    #[inline(always)]
    pub fn exit(&mut self, thread: ThreadIndex, now: u64) -> M::Outcome {
        if thread == IDLE {
            return self.refuse(Error::NotAllowed);
        }
        self.account(thread, now);
        // The thread that runs is first, unless the timer is just about to say so.
        if !Q::BUDGETS && self.ready.first() == thread {
            self.ready.remove_first(&mut self.threads, thread);
        } else {
            self.ready.remove(&mut self.threads, thread);
        }
        self.note_nothing();
        self.leave(thread, false, now);
        self.leave_work(now);
        let first = self.ready.first();
        if core::mem::replace(&mut self.led_to, first) == thread && first != IDLE {
            // Threads of a dead instance end one after the other, behind a wait or an interrupt, each without an instruction
            // in user mode, where interrupts are on. The idle thread has some, and the timer comes at once.
            return self.switch_by_idle();
        }
        self.switch(IDLE, first, now)
    }

    #[inline(never)]
    fn switch_by_idle(&mut self) -> M::Outcome {
        self.led_to = IDLE;
        // At once.
        self.arm_before(0);
        let Thread { status, value, .. } = self.threads[IDLE as usize];
        self.machine.switch(IDLE, status.into(), value)
    }

    /// Waits until the thread that `handle` names has ended. One thread can wait for another's end.
    pub fn join(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        handle: Handle,
        now: u64,
    ) -> M::Outcome {
        let other = handle.thread();
        let generation = u64::from(self.threads[other as usize].generation);
        if handle.generation() > generation {
            return self.refuse(Error::NotFound);
        }
        if handle.generation() < generation {
            return self.machine.reply(0, 0);
        }
        let record = &self.threads[other as usize];
        if !record.exists() {
            return self.refuse(Error::NotFound);
        }
        if other == IDLE || thread == IDLE || self.homes[other as usize].instance() != instance {
            return self.refuse(Error::NotAllowed);
        }
        if other == thread {
            return self.refuse(Error::BadArgument);
        }
        if record.joiner != IDLE {
            return self.refuse(Error::Busy);
        }
        self.threads[other as usize].joiner = thread;
        self.block(thread, Tenant::calling(instance), State::Join, other.into());
        self.blocked(thread, now)
    }

    /// Sets the priority of a thread that began in the calling instance.
    pub fn set_priority(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        handle: Handle,
        priority: u64,
        now: u64,
    ) -> M::Outcome {
        match self.allowed_priority(Tenant::calling(instance), priority) {
            Err(error) => self.refuse(error),
            Ok(priority) => {
                let time = self.policy_time(now);
                self.adjust(thread, instance, handle, now, |ready, threads, other| {
                    ready.set_priority(threads, other, priority, time);
                })
            }
        }
    }

    /// Changes the own urgency of a thread that began in the calling instance, in a way that only the
    /// policy knows.
    pub fn adjust(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        handle: Handle,
        now: u64,
        change: impl FnOnce(&mut Q, &mut Threads, ThreadIndex),
    ) -> M::Outcome {
        match self.own_thread(instance, handle) {
            Err(error) => self.refuse(error),
            Ok(other) => {
                if Q::BUDGETS {
                    self.account(thread, now);
                }
                change(&mut self.ready, &mut self.threads, other);
                self.settle(other);
                self.leave_work(now);
                self.finish(thread, 0, 0, now)
            }
        }
    }

    /// The number of a thread, not [`IDLE`], that began in `instance`.
    pub fn own_thread(&self, instance: InstanceId, handle: Handle) -> Result<ThreadIndex, Error> {
        let thread = self.existing(handle)?;
        if self.homes[thread as usize].instance() != instance {
            return Err(Error::NotAllowed);
        }
        Ok(thread)
    }

    /// The number of a thread that exists and is not [`IDLE`].
    pub(crate) fn existing(&self, handle: Handle) -> Result<ThreadIndex, Error> {
        let thread = handle.thread();
        if thread == IDLE {
            return Err(Error::BadArgument);
        }
        if self.handle(thread)? != handle {
            return Err(Error::NotFound);
        }
        Ok(thread)
    }

    fn allowed_priority(&self, tenant: Tenant, priority: u64) -> Result<u8, Error> {
        if priority > 255 {
            return Err(Error::BadArgument);
        }
        if priority > self.accounts[tenant].quota.priority.into() {
            return Err(Error::NotAllowed);
        }
        Ok(priority as u8)
    }

    /// Ends `thread`, which is not [`IDLE`], in whatever state it is.
    pub(crate) fn end(&mut self, thread: ThreadIndex, now: u64) {
        if self.threads[thread as usize].runnable() {
            self.unready(thread);
        }
        // The end of its wait does not make it ready.
        self.threads[thread as usize].flags |= STOPPED;
        let waits = self.threads[thread as usize].state != State::Ready;
        self.end_wait(thread, 0, self.policy_time(now));
        // What the end of a wait changes comes before the end of the thread.
        self.leave(thread, waits, now);
    }

    /// `thread`, which is in no queue but perhaps that of faults, ends. From now on no handle names it, and its
    /// instance may have another; its number is free if it holds nothing and `later` is false.
    #[inline(always)]
    fn leave(&mut self, thread: ThreadIndex, later: bool, now: u64) {
        self.faults.forget(&mut self.threads, thread);
        let record = &mut self.threads[thread as usize];
        record.state = State::Ending;
        record.flags = 0;
        record.generation = record.generation.wrapping_add(1);
        let home = self.homes[thread as usize];
        let ended = &mut self.ended[home.instance().index() % INSTANCES_MAXIMUM];
        *ended = ended.wrapping_add(record.used);
        if Q::BUDGETS {
            let time = self.policy_time(now);
            self.ready.end(&self.threads, thread, home.instance().index(), time);
        }
        if self.accounts[home].budget != 0 {
            self.end_throttled(thread);
        }
        let account = &mut self.accounts[home];
        account.threads = account.threads.saturating_sub(1);
        if account.first == thread {
            account.first = IDLE;
            self.returned.set(home.instance().index());
            self.add_alarm(self.ready.urgency(&self.threads, thread));
        }
        if self.threads[thread as usize].held == NONE && !later {
            return self.leave_for_good(thread, now);
        }
        self.add_ending(thread);
    }

    /// Hands over a lock of a thread that has ended, or frees its number.
    pub(crate) fn end_further(&mut self, thread: ThreadIndex, now: u64) {
        if self.threads[thread as usize].held != NONE {
            return self.release_one(thread, now);
        }
        self.ending.clear(thread);
        self.leave_for_good(thread, now)
    }

    /// `thread`, which has ended, holds nothing any more: its number is free.
    #[inline(always)]
    fn leave_for_good(&mut self, thread: ThreadIndex, now: u64) {
        let record = &mut self.threads[thread as usize];
        record.state = State::Free;
        let joiner = core::mem::replace(&mut record.joiner, IDLE);
        self.free_threads.set(thread.into());
        if joiner != IDLE {
            self.wake(joiner, 0, self.policy_time(now));
        }
    }
}
