//! Where the nucleus enters. What an upcall leaves as a reply goes nowhere: the thread goes on from
//! the trap frame that the upcall began with.

use super::{Component, Core, Server, index, layout};
use crate::{ReadyQueue, ThreadIndex};
use cairn::exclusive::Operation;
use cairn::time::run_clock;
use cairn::{Caller, CallerThread, Error};
use cairn_abi::domain::{QUEUE_SIZE, stack_queue};
use cairn_interfaces as interfaces;
use core::convert::Infallible;

struct Tick(ThreadIndex);
struct Exit(ThreadIndex);

impl<Q: ReadyQueue> Operation<Core<Q>> for Tick {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.enter();
        core.tick(self.0, run_clock())
    }
}

impl<Q: ReadyQueue> Operation<Core<Q>> for Exit {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.enter();
        core.exit(self.0, run_clock())
    }
}

impl<C: Component> interfaces::SchedulerUpcalls for Server<C> {
    fn boot(&self) -> Result<(), Error> {
        C::state().claim();
        // Without `enter`: there are no words before this.
        C::state().end_with(|core| {
            layout::take_over::<C>(core);
            core.run(run_clock())
        })
    }

    fn exit(&self, thread: CallerThread) -> Result<(), Error> {
        C::state().run(Exit(index(thread)))
    }

    fn timer(&self, thread: CallerThread) -> Result<(), Error> {
        C::state().run(Tick(index(thread)))
    }

    fn software(&self, thread: CallerThread) -> Result<(), Error> {
        Self::operation(move |core, now| core.stacks_freed(index(thread), now))
    }

    fn fault(&self, thread: CallerThread, cause: u64, value: u64) -> Result<(), Error> {
        Self::operation(move |core, now| core.fault(index(thread), cause, value, now))
    }

    fn stack_wait(
        &self,
        thread: CallerThread,
        _cause: u64,
        value: u64,
        caller: Caller,
    ) -> Result<(), Error> {
        let queue = value.wrapping_sub(stack_queue(0)) / QUEUE_SIZE;
        Self::operation(move |core, now| core.wait_stack(index(thread), caller.0, queue, now))
    }
}
