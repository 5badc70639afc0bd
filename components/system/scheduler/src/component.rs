//! What makes the core a component: entry points around it, the same for every policy. The macro
//! [`crate::scheduler_component`] puts a policy and this together.
//!
//! An operation does not come back: it ends by leaving into the thread that called or by switching to
//! another, out of the middle of the core. So nothing is converted on the way, and the stack on which
//! it ran, with all that was borrowed there, is begun anew by the next call.

mod control;
mod hart;
mod layout;
mod services;
mod upcalls;

use crate::{Handle, ReadyQueue, Scheduler, ThreadIndex};
use cairn::exclusive::{Operation, RunToCompletion};
use cairn::time::run_clock;
use cairn::wire::Value;
use cairn::{CallerThread, Error};
use core::convert::Infallible;
use core::marker::PhantomData;
use hart::Hart;
pub use layout::instances;

/// A scheduler with policy `Q` on this machine.
pub type Core<Q> = Scheduler<Q, Hart>;
/// The state of a scheduler component.
pub type State<Q> = RunToCompletion<Core<Q>>;

/// A state before the boot upcall: all zeros, which the image need not carry.
pub const fn state<Q: ReadyQueue>() -> State<Q> {
    RunToCompletion::new(Scheduler::new(Hart::ZERO))
}

/// What differs from one scheduler component to another.
pub trait Component: 'static {
    /// The thread that runs.
    type Policy: ReadyQueue + Send + 'static;

    /// The component's state.
    fn state() -> &'static State<Self::Policy>;
    /// Prepares the policy, before the first thread is adopted.
    fn prepare(policy: &mut Self::Policy);
}

/// Serves every interface of a scheduler.
pub struct Server<C>(PhantomData<C>);

impl<C: Component> Server<C> {
    /// The server.
    pub const NEW: Server<C> = Server(PhantomData);

    /// One operation of the core at the present time.
    #[inline(always)]
    pub fn operation<T: Value, E>(
        body: impl FnOnce(&mut Core<C::Policy>, u64) -> Infallible,
    ) -> Result<T, E> {
        C::state().run(Called(body, run_clock()))
    }

    /// A question to the core, or a change that no thread waits for.
    #[inline(always)]
    pub fn with<R>(body: impl FnOnce(&mut Core<C::Policy>) -> R) -> R {
        C::state().with(|core| {
            core.enter();
            body(core)
        })
    }

    /// An operation of a hot path.
    #[inline(always)]
    fn run<T: Value, E>(operation: impl Operation<Core<C::Policy>>) -> Result<T, E> {
        C::state().run(Entry(operation))
    }
}

/// [`Scheduler::enter`], then the operation. Not a closure, which the compiler would not inline around another.
struct Called<F>(F, u64);

impl<Q: ReadyQueue, F: FnOnce(&mut Core<Q>, u64) -> Infallible> Operation<Core<Q>> for Called<F> {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        core.enter();
        (self.0)(core, self.1)
    }
}

/// The same on hot paths: a second time if need be, so that the common one saves no registers.
struct Entry<O>(O);

impl<Q: ReadyQueue, O: Operation<Core<Q>>> Operation<Core<Q>> for Entry<O> {
    #[inline(always)]
    fn run(self, core: &mut Core<Q>) -> Infallible {
        if core.has_noted() {
            return run_after_noted(self.0, core);
        }
        self.0.run(core)
    }
}

#[inline(never)]
fn run_after_noted<Q: ReadyQueue, O: Operation<Core<Q>>>(
    operation: O,
    core: &mut Core<Q>,
) -> Infallible {
    core.wake_noted();
    operation.run(core)
}

/// Finds semaphores: objects whose control word is their index.
pub struct Semaphores<C>(PhantomData<C>);
/// A semaphore, by its index.
pub struct Semaphore<C>(u64, PhantomData<C>);
/// Finds locks: objects whose control word is their index.
pub struct Locks<C>(PhantomData<C>);
/// A lock, by its index.
pub struct Lock<C>(u64, PhantomData<C>);

impl<C: Component> Semaphores<C> {
    /// All semaphores.
    pub const NEW: Semaphores<C> = Semaphores(PhantomData);

    /// The semaphore of a control word; the core checks it.
    #[inline(always)]
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&Semaphore<C>) -> R) -> Result<R, Error> {
        Ok(body(&Semaphore(control, PhantomData)))
    }
}

impl<C: Component> Locks<C> {
    /// All locks.
    pub const NEW: Locks<C> = Locks(PhantomData);

    /// The lock of a control word; the core checks it.
    #[inline(always)]
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&Lock<C>) -> R) -> Result<R, Error> {
        Ok(body(&Lock(control, PhantomData)))
    }
}

/// The core's number of a thread that the portal vouches for.
#[inline(always)]
pub fn index(thread: CallerThread) -> ThreadIndex {
    thread.0 as ThreadIndex
}

/// Makes a scheduler component of a policy: `scheduler_component!("name", Policy, prepare)`, where
/// `prepare` is a `fn(&mut Policy)`. `further: { name: Interface = SERVER }` adds exports.
#[macro_export]
macro_rules! scheduler_component {
    ($name:literal, $policy:ty, $prepare:path $(, further: { $($export:ident: $interface:path = $server:expr),* $(,)? })? $(,)?) => {
        /// This component.
        struct This;

        static STATE: $crate::component::State<$policy> = $crate::component::state();

        impl $crate::component::Component for This {
            type Policy = $policy;

            #[inline(always)]
            fn state() -> &'static $crate::component::State<$policy> {
                &STATE
            }
            fn prepare(policy: &mut $policy) {
                $prepare(policy);
            }
        }

        static SERVER: $crate::component::Server<This> = $crate::component::Server::NEW;
        static SEMAPHORES: $crate::component::Semaphores<This> = $crate::component::Semaphores::NEW;
        static LOCKS: $crate::component::Locks<This> = $crate::component::Locks::NEW;

        cairn::component! {
            name: $name,
            exports: {
                threads: cairn_interfaces::Threads = SERVER,
                upcalls: cairn_interfaces::SchedulerUpcalls = SERVER,
                signals: cairn_interfaces::InterruptSignals = SERVER,
                supervision: cairn_interfaces::Supervision = SERVER,
                objects: cairn_interfaces::SchedulerObjects = SERVER,
                statistics: cairn_interfaces::SchedulerStatistics = SERVER,
                $($($export: $interface = $server,)*)?
            },
            objects: {
                semaphore: cairn_interfaces::Semaphore = SEMAPHORES,
                lock: cairn_interfaces::Lock = LOCKS,
            },
        }
    };
}

/// The name of a thread that a supervisor or a client passes.
#[inline(always)]
fn named(thread: u64) -> Handle {
    Handle(thread)
}
