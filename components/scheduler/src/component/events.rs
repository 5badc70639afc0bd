//! Where the nucleus enters. What an event leaves as a reply goes nowhere: the thread goes on from
//! the trap frame that the event began with.

use super::{Component, Core, Server, domain, index, layout};
use crate::{ReadyQueue, ThreadIndex};
use cairn::exclusive::Operation;
use cairn::time::counter;
use cairn::{Caller, CallerThread, Error};
use cairn_abi::domain::{QUEUE_SIZE, stack_queue};
use cairn_interfaces as interfaces;
use core::convert::Infallible;

struct Tick(ThreadIndex, u64);
struct Exit(ThreadIndex, u64);

impl<Q: ReadyQueue> Operation<Core<Q>> for Tick {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.tick(self.0, self.1)
    }
}

impl<Q: ReadyQueue> Operation<Core<Q>> for Exit {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.exit(self.0, self.1)
    }
}

impl<C: Component> interfaces::SchedulerEvents for Server<C> {
    fn boot(
        &self,
        _thread: CallerThread,
        _cause: u64,
        _value: u64,
        _domain: Caller,
    ) -> Result<(), Error> {
        C::state().claim();
        Self::operation(|core, now| {
            layout::take_over::<C>(core);
            core.run(now)
        })
    }

    fn exit(
        &self,
        thread: CallerThread,
        _cause: u64,
        _value: u64,
        _domain: Caller,
    ) -> Result<(), Error> {
        C::state().run(Exit(index(thread), counter()))
    }

    fn timer(
        &self,
        thread: CallerThread,
        _cause: u64,
        _value: u64,
        _domain: Caller,
    ) -> Result<(), Error> {
        C::state().run(Tick(index(thread), counter()))
    }

    fn software(
        &self,
        thread: CallerThread,
        _cause: u64,
        _value: u64,
        _domain: Caller,
    ) -> Result<(), Error> {
        Self::operation(|core, now| core.stacks_freed(index(thread), now))
    }

    fn fault(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        _domain: Caller,
    ) -> Result<(), Error> {
        Self::operation(|core, now| core.fault(index(thread), cause, value, now))
    }

    fn stack_wait(
        &self,
        thread: CallerThread,
        _cause: u64,
        value: u64,
        caller: Caller,
    ) -> Result<(), Error> {
        let queue = value.wrapping_sub(stack_queue(0)) / QUEUE_SIZE;
        Self::operation(|core, now| core.wait_stack(index(thread), domain(caller), queue, now))
    }
}
