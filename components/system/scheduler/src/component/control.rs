//! What the supervisor and the portal manager call.

use super::{Component, Server, index, named};
use crate::{Estate, Fault, Machine, NOBODY, Quota, Start, State, ThreadIndex};
use cairn::succession;
use cairn::time::{now, run_clock};
use cairn::wire::Value;
use cairn::{Caller, CallerThread, Error, InstanceId};
use cairn_interfaces::{self as interfaces, Activity};

fn thread(number: u64) -> Result<ThreadIndex, Error> {
    ThreadIndex::try_from(number).map_err(|_| Error::NotFound)
}

impl<C: Component> Server<C> {
    /// Offers what there is to the scheduler whose `succeed` is at this address. It comes back here if that refuses, or only prepares.
    fn offer<T: Value>(
        thread: CallerThread,
        entry: u64,
        step: succession::Step,
    ) -> Result<T, Error> {
        Self::operation(move |core, now| {
            let mut order = NOBODY;
            let status = {
                let estate = core.estate(index(thread), &mut order, now);
                succession::offer(entry, thread.0.into(), &estate, step).status
            };
            core.machine_mut().reply(status, 0)
        })
    }
}

impl<C: Component> interfaces::Supervision for Server<C> {
    fn next_fault(&self) -> Result<interfaces::ThreadFault, Error> {
        Self::with(|core| {
            let thread = core.next_fault()?;
            let Fault { cause, value, time } = core.fault_of(thread.thread());
            Ok(interfaces::ThreadFault { thread: thread.0, cause, value, time })
        })
    }

    fn next_returned(&self) -> Result<InstanceId, Error> {
        Self::with(|core| core.next_returned())
    }

    fn waits_for(&self, other: u64) -> Result<interfaces::Wait, Error> {
        let (state, object, holder, instance) = Self::with(|core| core.waits_for(named(other)))?;
        Ok(interfaces::Wait { activity: activity(state)?, object, holder: holder.into(), instance })
    }

    fn stop(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.stop(index(thread), named(other), now))
    }

    fn resume(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.resume(index(thread), named(other), now))
    }

    fn kill(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.kill(index(thread), named(other), now))
    }

    fn reclaim(&self, thread: CallerThread, dead: InstanceId, cursor: u64) -> Result<u64, Error> {
        Self::operation(move |core, now| core.reclaim(index(thread), dead, cursor, now))
    }

    fn start(
        &self,
        thread: CallerThread,
        home: InstanceId,
        entry: u64,
        stack: u64,
        priority: u8,
    ) -> Result<u64, Error> {
        let start = Start { entry, stack, argument: 0 };
        Self::operation(move |core, now| {
            core.start_first(index(thread), home, start, priority.into(), now)
        })
    }

    fn cancel_wait(&self, thread: CallerThread, other: u64) -> Result<bool, Error> {
        Self::operation(move |core, now| core.cancel_wait(index(thread), named(other), now))
    }

    fn lift_budget(&self, other: u64, is_lifted: bool) -> Result<(), Error> {
        Self::with(|core| core.lift_budget(named(other), is_lifted))
    }

    fn wait_fault(
        &self,
        thread: CallerThread,
        caller: Caller,
        deadline: u64,
        priority: u8,
    ) -> Result<(), Error> {
        Self::operation(move |core, now| {
            let until = (deadline, priority.into());
            core.wait_fault(index(thread), caller.0, until, now)
        })
    }

    fn work_at(&self, thread: CallerThread, priority: u8) -> Result<(), Error> {
        Self::operation(move |core, now| core.work_at(index(thread), priority.into(), now))
    }

    fn add_domain(
        &self,
        instance: InstanceId,
        parent: InstanceId,
        threads: u32,
        semaphores: u32,
        locks: u32,
        priority: u8,
    ) -> Result<(), Error> {
        let wanted = (u8::try_from(threads), u16::try_from(semaphores), u8::try_from(locks));
        let (Ok(threads), Ok(semaphores), Ok(locks)) = wanted else { return Err(Error::Exhausted) };
        let quota = Quota { threads, semaphores, locks, priority };
        Self::with(|core| core.add_child(instance, parent, quota))
    }

    fn remove_device(&self, instance: InstanceId, semaphore: u32) -> Result<(), Error> {
        let semaphore = u16::try_from(semaphore).map_err(|_| Error::BadArgument)?;
        Self::with(|core| core.remove_device(instance, semaphore))
    }

    fn retire_domain(&self, instance: InstanceId, parent: InstanceId) -> Result<(), Error> {
        Self::with(|core| core.retire_child(instance, parent))
    }

    fn face(&self) -> Result<u64, Error> {
        Ok(succession::face())
    }

    fn lead(&self, place: u64, entry: u64, successor: u64) -> Result<(), Error> {
        if succession::lead(place, entry, successor) { Ok(()) } else { Err(Error::NotFound) }
    }

    fn prepare_succession(&self, thread: CallerThread, entry: u64) -> Result<(), Error> {
        Self::offer(thread, entry, succession::Step::Prepare)
    }

    fn succeed_by(&self, thread: CallerThread, entry: u64) -> Result<u64, Error> {
        Self::offer(thread, entry, succession::Step::TakeOver)
    }

    fn succeed(&self, thread: CallerThread, estate: u64, leads: u64) -> Result<u64, Error> {
        let is_claimed = C::state().is_claimed();
        if is_claimed && C::state().with(|core| core.has_run()) {
            return Err(Error::NotAllowed);
        }
        let estate: &Estate = succession::offered(estate);
        estate.check()?;
        match (leads, is_claimed) {
            (0, false) => {
                C::state().claim();
                C::state().with(|core| {
                    core.machine_mut().begin();
                    core.start(estate.configuration());
                    C::prepare(core.policy());
                });
                Ok(0)
            }
            (0, true) | (_, false) => Err(Error::NotReady),
            (leads, true) => C::state().end_with(move |core| {
                core.inherit(estate, run_clock());
                succession::take_lead(leads);
                core.finish_succession(index(thread), estate, run_clock())
            }),
        }
    }

    fn idle_anew(&self, instance: InstanceId, entry: u64, stack: u64) -> Result<(), Error> {
        let start = Start { entry, stack, argument: 0 };
        Self::with(|core| core.idle_anew(instance, start))
    }

    fn alarm(&self, thread: CallerThread) -> Result<(), Error> {
        Self::operation(move |core, now| core.alarm(index(thread), now))
    }
}

impl<C: Component> interfaces::SchedulerObjects for Server<C> {
    fn allocate_semaphore(&self, owner: InstanceId, initial: u64) -> Result<u64, Error> {
        Self::with(|core| core.create_semaphore(owner, initial)).map(u64::from)
    }

    fn free_semaphore(&self, owner: InstanceId, semaphore: u64) -> Result<(), Error> {
        Self::with(|core| core.free_semaphore(owner, semaphore))
    }

    fn allocate_lock(&self, owner: InstanceId) -> Result<u64, Error> {
        Self::with(|core| core.create_lock(owner)).map(u64::from)
    }

    fn free_lock(&self, owner: InstanceId, lock: u64) -> Result<(), Error> {
        Self::with(|core| core.free_lock(owner, lock))
    }

    fn look_at_stacks(&self, thread: CallerThread, queue: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.look_at_stacks(index(thread), queue, now))
    }

    fn stack_waiters(&self, queue: u64) -> Result<u64, Error> {
        Self::with(|core| core.stack_waiters(queue))
    }
}

impl<C: Component> interfaces::SchedulerStatistics for Server<C> {
    fn thread(&self, index: u64) -> Result<interfaces::ThreadState, Error> {
        let index = thread(index)?;
        Self::with(|core| {
            let (name, waits) = (core.handle(index)?.0, activity(core.state(index))?);
            let waits = if core.is_due(index, now()) { Activity::Ready } else { waits };
            let activity = match waits {
                Activity::Ready if core.is_stopped(index) => Activity::Stopped,
                Activity::Ready if core.is_throttled(index) => Activity::Throttled,
                waits => waits,
            };
            let (home, priority) = (core.home(index), core.own_priority(index));
            Ok(interfaces::ThreadState { name, home, activity, priority })
        })
    }

    fn thread_time(&self, index: u64) -> Result<u64, Error> {
        let index = thread(index)?;
        Ok(Self::with(|core| core.time_used(index, run_clock())))
    }

    fn running_since(&self) -> Result<u64, Error> {
        Ok(Self::with(|core| core.running_since()))
    }

    fn held(&self, of: InstanceId) -> Result<interfaces::Held, Error> {
        let [threads, semaphores, locks] = Self::with(|core| core.held(of))?;
        Ok(interfaces::Held { threads, semaphores, locks })
    }

    fn time_ended(&self, home: InstanceId) -> Result<u64, Error> {
        Self::with(|core| core.time_ended(home))
    }
}

/// What a thread does, as others know it.
fn activity(state: State) -> Result<Activity, Error> {
    match state {
        State::Ready => Ok(Activity::Ready),
        State::Semaphore => Ok(Activity::Semaphore),
        State::Lock => Ok(Activity::Lock),
        State::Join => Ok(Activity::Join),
        State::Stack => Ok(Activity::Stack),
        State::Sleep => Ok(Activity::Sleep),
        State::Free | State::Ending => Err(Error::NotFound),
    }
}
