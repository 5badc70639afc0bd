//! What the supervisor and the portal manager call.

use super::{Component, Server, index, named};
use crate::{Start, ThreadIndex};
use cairn::time::counter;
use cairn::{Caller, CallerThread, Error, InstanceId};
use cairn_interfaces as interfaces;

fn thread(number: u64) -> Result<ThreadIndex, Error> {
    ThreadIndex::try_from(number).map_err(|_| Error::NotFound)
}

impl<C: Component> interfaces::SchedulerControl for Server<C> {
    fn next_fault(&self) -> Result<u64, Error> {
        Self::with(|core| core.next_fault()).map(|handle| handle.0)
    }

    fn next_returned(&self) -> Result<u64, Error> {
        Self::with(|core| core.next_returned()).map(u64::from)
    }

    fn fault_of(&self, other: u64, what: u64) -> Result<u64, Error> {
        let fault = Self::with(|core| core.fault_of(named(other).thread()));
        match what {
            0 => Ok(fault.cause),
            1 => Ok(fault.value),
            2 => Ok(fault.time),
            _ => Err(Error::BadArgument),
        }
    }

    fn waits_for(&self, other: u64) -> Result<u64, Error> {
        Self::with(|core| core.waits_for(named(other)))
    }

    fn stop(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        Self::operation(|core, now| core.stop(index(thread), named(other), now))
    }

    fn resume(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        Self::operation(|core, now| core.resume(index(thread), named(other), now))
    }

    fn kill(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        Self::operation(|core, now| core.kill(index(thread), named(other), now))
    }

    fn reclaim(&self, thread: CallerThread, dead: InstanceId, cursor: u64) -> Result<u64, Error> {
        Self::operation(|core, now| core.reclaim(index(thread), dead, cursor, now))
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
        Self::operation(|core, now| {
            core.start_first(index(thread), home, start, priority.into(), now)
        })
    }

    fn thread_name(&self, other: u64) -> Result<u64, Error> {
        let other = thread(other)?;
        Self::with(|core| core.handle(other)).map(|handle| handle.0)
    }

    fn thread_state(&self, other: u64) -> Result<u64, Error> {
        let other = thread(other)?;
        Self::with(|core| core.describe(other))
    }

    fn thread_time(&self, other: u64) -> Result<u64, Error> {
        let other = thread(other)?;
        Ok(Self::with(|core| core.time_used(other, counter())))
    }

    fn running_since(&self) -> Result<u64, Error> {
        Ok(Self::with(|core| core.running_since()))
    }

    fn cancel_wait(&self, thread: CallerThread, other: u64) -> Result<u64, Error> {
        Self::operation(|core, now| core.cancel_wait(index(thread), named(other), now))
    }

    fn cancel_event_wait(&self, thread: CallerThread, other: u64) -> Result<u64, Error> {
        Self::operation(|core, now| core.cancel_event_wait(index(thread), named(other), now))
    }

    fn wait_fault(
        &self,
        thread: CallerThread,
        caller: Caller,
        deadline: u64,
        priority: u8,
    ) -> Result<(), Error> {
        Self::operation(|core, now| {
            let until = (deadline, priority.into());
            core.wait_fault(index(thread), caller.0, until, now)
        })
    }

    fn work_at(&self, thread: CallerThread, priority: u8) -> Result<(), Error> {
        Self::operation(|core, now| core.work_at(index(thread), priority.into(), now))
    }

    fn alarm(&self, thread: CallerThread) -> Result<(), Error> {
        Self::operation(|core, now| core.alarm(index(thread), now))
    }

    fn fault_semaphore(&self) -> Result<u64, Error> {
        Ok(Self::with(|core| core.supervisor_semaphore().into()))
    }

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

    fn held(&self, of: InstanceId) -> Result<u64, Error> {
        let [threads, semaphores, locks] = Self::with(|core| core.held(of))?.map(u64::from);
        Ok(threads | semaphores << 16 | locks << 32)
    }
}
