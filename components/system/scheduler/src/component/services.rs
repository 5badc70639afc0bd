//! What clients call: threads, semaphores, locks; and the interrupt dispatcher's signal.

use super::{Component, Core, Lock, Semaphore, Server, index, named};
use crate::{ReadyQueue, Start, ThreadIndex};
use cairn::exclusive::Operation;
use cairn::time::run_clock;
use cairn::{Caller, CallerThread, Error, InstanceId};
use cairn_interfaces as interfaces;
use cairn_interfaces::LockError;
use core::convert::Infallible;

struct Yield(ThreadIndex);
/// Thread and instance, the halves of a word: so all of it is passed in registers.
struct P(u32, u64);
struct V(ThreadIndex, u64);

impl<Q: ReadyQueue> Operation<Core<Q>> for Yield {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.yield_now(self.0, run_clock())
    }
}

impl<Q: ReadyQueue> Operation<Core<Q>> for P {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.p(self.0 as ThreadIndex, InstanceId((self.0 >> u16::BITS) as u16), self.1, run_clock())
    }
}

impl<Q: ReadyQueue> Operation<Core<Q>> for V {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.v(self.0, self.1, run_clock())
    }
}

impl<C: Component> interfaces::Threads for Server<C> {
    #[inline(always)]
    fn yield_now(&self, thread: CallerThread) -> Result<(), Error> {
        Self::run(Yield(index(thread)))
    }

    fn sleep_until(&self, thread: CallerThread, caller: Caller, time: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.sleep_until(index(thread), caller.0, time, now))
    }

    fn spawn(
        &self,
        thread: CallerThread,
        caller: Caller,
        start: cairn::thread::Start,
        priority: u8,
    ) -> Result<u64, Error> {
        let start =
            Start { entry: start.entry(), stack: start.stack(), argument: start.argument() };
        Self::operation(move |core, now| {
            core.spawn(index(thread), caller.0, start, priority.into(), now)
        })
    }

    fn join(&self, thread: CallerThread, caller: Caller, other: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.join(index(thread), caller.0, named(other), now))
    }

    fn set_priority(
        &self,
        thread: CallerThread,
        caller: Caller,
        other: u64,
        priority: u8,
    ) -> Result<(), Error> {
        Self::operation(move |core, now| {
            core.set_priority(index(thread), caller.0, named(other), priority.into(), now)
        })
    }

    fn time_used(&self, thread: CallerThread) -> Result<u64, Error> {
        Ok(Self::with(|core| core.time_used(index(thread), run_clock())))
    }

    fn own_name(&self, thread: CallerThread) -> Result<u64, Error> {
        Self::with(|core| core.handle(index(thread))).map(|handle| handle.0)
    }
}

impl<C: Component> interfaces::Semaphore for Semaphore<C> {
    #[inline(always)]
    fn p(&self, thread: CallerThread, caller: Caller) -> Result<(), Error> {
        let word = u32::from(index(thread)) | u32::from(caller.0.0) << u16::BITS;
        Server::<C>::run(P(word, self.0))
    }

    #[inline(always)]
    fn v(&self, thread: CallerThread) -> Result<(), Error> {
        Server::<C>::run(V(index(thread), self.0))
    }

    fn try_p(&self, _thread: CallerThread) -> Result<(), Error> {
        Server::<C>::with(|core| core.try_p(self.0))
    }

    fn p_until(&self, thread: CallerThread, caller: Caller, deadline: u64) -> Result<(), Error> {
        Server::<C>::operation(move |core, now| {
            core.timed_p(index(thread), caller.0, self.0, deadline, now)
        })
    }
}

impl<C: Component> interfaces::Lock for Lock<C> {
    fn lock(&self, thread: CallerThread, caller: Caller) -> Result<(), LockError> {
        Server::<C>::operation(move |core, now| core.lock(index(thread), caller.0, self.0, now))
    }

    fn unlock(&self, thread: CallerThread) -> Result<(), Error> {
        Server::<C>::operation(move |core, now| core.unlock(index(thread), self.0, now))
    }
}

impl<C: Component> interfaces::InterruptSignals for Server<C> {
    #[inline(always)]
    fn signal(&self, thread: CallerThread, semaphore: u64) -> Result<(), Error> {
        Self::run(V(index(thread), semaphore))
    }
}
