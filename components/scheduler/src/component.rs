//! Entry points: from the portals' registers to the core and back.

use cairn::exclusive::RunToCompletion;
use cairn::time::{counter, ticks};
use cairn::{Caller, CallerThread, Error};
use cairn_interfaces as interfaces;
use cairn_scheduler::glue::{self, Hart, finish};
use cairn_scheduler::{Bitmap, Configuration, FixedPriority, Handle, Outcome, Quota, Scheduler, Start, ThreadIndex};

/// A thread runs this long before an equal one takes its turn.
const QUANTUM_MICROSECONDS: u64 = 10_000;

struct State {
    core: Scheduler<FixedPriority, Hart>,
    /// Stack queues that threads wait for.
    waited: Bitmap<16>,
    fault_semaphore: u16,
}

static STATE: RunToCompletion<State> = RunToCompletion::new(State {
    core: Scheduler::new(Hart::NEW),
    waited: Bitmap::EMPTY,
    fault_semaphore: 0,
});

struct Server;
static SERVER: Server = Server;

/// Semaphores and locks are objects whose control word is their index.
struct Semaphores;
static SEMAPHORES: Semaphores = Semaphores;
struct Semaphore(u64);
struct Locks;
static LOCKS: Locks = Locks;
struct Lock(u64);

impl Semaphores {
    #[inline(always)]
    fn with<R>(&self, control: u64, body: impl FnOnce(&Semaphore) -> R) -> Result<R, Error> {
        Ok(body(&Semaphore(control)))
    }
}

impl Locks {
    #[inline(always)]
    fn with<R>(&self, control: u64, body: impl FnOnce(&Lock) -> R) -> Result<R, Error> {
        Ok(body(&Lock(control)))
    }
}

cairn::component! {
    name: "scheduler",
    exports: {
        threads: interfaces::Threads = SERVER,
        events: interfaces::SchedulerEvents = SERVER,
        signals: interfaces::InterruptSignals = SERVER,
        control: interfaces::SchedulerControl = SERVER,
    },
    objects: {
        semaphore: interfaces::Semaphore = SEMAPHORES,
        lock: interfaces::Lock = LOCKS,
    },
}

/// One operation: the core's answer is carried out after the state was put down, since a switch does
/// not come back.
#[inline(always)]
fn operation(body: impl FnOnce(&mut State, u64) -> Outcome) -> Result<u64, Error> {
    finish(STATE.with(|state| body(state, counter())))
}

#[inline(always)]
fn index(thread: CallerThread) -> ThreadIndex {
    thread.0 as ThreadIndex
}

#[inline(always)]
fn domain(caller: Caller) -> u8 {
    caller.0 as u8
}

impl interfaces::Threads for Server {
    #[inline(always)]
    fn yield_now(&self, thread: CallerThread) -> Result<(), Error> {
        operation(|state, now| state.core.yield_now(index(thread), now)).map(drop)
    }

    fn sleep_until(&self, thread: CallerThread, caller: Caller, time: u64) -> Result<(), Error> {
        operation(|state, now| state.core.sleep_until(index(thread), domain(caller), time, now)).map(drop)
    }

    fn spawn(&self, thread: CallerThread, caller: Caller, entry: u64, stack: u64, argument: u64, priority: u8) -> Result<u64, Error> {
        let start = Start { entry, stack, argument };
        operation(|state, now| state.core.spawn(index(thread), domain(caller), start, priority.into(), now))
    }

    fn exit(&self, thread: CallerThread) -> Result<(), Error> {
        operation(|state, now| state.core.exit(index(thread), now)).map(drop)
    }

    fn join(&self, thread: CallerThread, caller: Caller, other: u64) -> Result<(), Error> {
        operation(|state, now| state.core.join(index(thread), domain(caller), Handle(other), now)).map(drop)
    }

    fn set_priority(&self, thread: CallerThread, caller: Caller, other: u64, priority: u8) -> Result<(), Error> {
        operation(|state, now| {
            state.core.set_priority(index(thread), domain(caller), Handle(other), priority.into(), now)
        })
        .map(drop)
    }

    fn time_used(&self, thread: CallerThread) -> Result<u64, Error> {
        Ok(STATE.with(|state| state.core.time_used(index(thread), counter())))
    }
}

impl interfaces::Semaphore for Semaphore {
    #[inline(always)]
    fn p(&self, thread: CallerThread, caller: Caller) -> Result<(), Error> {
        operation(|state, now| state.core.p(index(thread), domain(caller), self.0, now)).map(drop)
    }

    #[inline(always)]
    fn v(&self, thread: CallerThread) -> Result<(), Error> {
        operation(|state, now| state.core.v(index(thread), self.0, now)).map(drop)
    }

    fn try_p(&self, _thread: CallerThread) -> Result<(), Error> {
        STATE.with(|state| state.core.try_p(self.0))
    }

    fn p_until(&self, thread: CallerThread, caller: Caller, deadline: u64) -> Result<(), Error> {
        operation(|state, now| state.core.timed_p(index(thread), domain(caller), self.0, deadline, now)).map(drop)
    }
}

impl interfaces::Lock for Lock {
    fn lock(&self, thread: CallerThread, caller: Caller) -> Result<(), Error> {
        operation(|state, now| state.core.lock(index(thread), domain(caller), self.0, now)).map(drop)
    }

    fn unlock(&self, thread: CallerThread) -> Result<(), Error> {
        operation(|state, now| state.core.unlock(index(thread), self.0, now)).map(drop)
    }
}

impl interfaces::InterruptSignals for Server {
    #[inline(always)]
    fn signal(&self, thread: CallerThread, semaphore: u64) -> Result<(), Error> {
        operation(|state, now| state.core.interrupt_v(index(thread), semaphore, now)).map(drop)
    }
}

impl interfaces::SchedulerEvents for Server {
    fn boot(&self, _thread: CallerThread, _cause: u64, _value: u64) -> Result<(), Error> {
        STATE.claim();
        operation(|state, now| {
            take_over(state);
            state.core.run(now)
        })
        .map(drop)
    }

    fn exit(&self, thread: CallerThread, _cause: u64, _value: u64) -> Result<(), Error> {
        operation(|state, now| state.core.exit(index(thread), now)).map(drop)
    }

    fn timer(&self, thread: CallerThread, _cause: u64, _value: u64) -> Result<(), Error> {
        operation(|state, now| state.core.tick(index(thread), now)).map(drop)
    }

    fn software(&self, thread: CallerThread, _cause: u64, _value: u64) -> Result<(), Error> {
        operation(|state, now| stacks_freed(state, index(thread), now)).map(drop)
    }

    fn fault(&self, thread: CallerThread, cause: u64, value: u64) -> Result<(), Error> {
        operation(|state, now| state.core.fault(index(thread), cause, value, now)).map(drop)
    }

    fn stack_wait(&self, thread: CallerThread, _cause: u64, value: u64) -> Result<(), Error> {
        let queue = value.wrapping_sub(cairn_abi::domain::stack_queue(0)) / cairn_abi::domain::QUEUE_SIZE;
        operation(|state, now| {
            if queue < cairn_abi::domain::QUEUES_MAXIMUM as u64 {
                state.waited.set(queue as usize);
            }
            state.core.wait_stack(index(thread), 0, queue, now)
        })
        .map(drop)
    }
}

/// Which queue was freed is not said; the first waiter of each queue tries again. Bounded by the
/// number of queues that threads wait for.
fn stacks_freed(state: &mut State, thread: ThreadIndex, now: u64) -> Outcome {
    let mut running = thread;
    let mut outcome = Outcome::Reply { status: 0, value: 0 };
    let mut left = state.waited;
    while let Some(queue) = left.first() {
        left.clear(queue);
        if let Outcome::Switch { thread, status, value } = state.core.stack_freed(running, queue as u64, now) {
            running = thread;
            outcome = Outcome::Switch { thread, status, value };
        }
        if state.core.machine().waiters(queue as u16) == 0 {
            state.waited.clear(queue);
        }
    }
    outcome
}

/// Takes over from the layout: quotas, first threads, the devices' semaphores.
fn take_over(state: &mut State) {
    state.core.machine_mut().begin();
    state.core.start(Configuration { quantum: ticks(QUANTUM_MICROSECONDS), supervisor_semaphore: 0 });
    for instance in glue::instances() {
        let threads = u8::try_from(instance.threads).unwrap_or(u8::MAX);
        let semaphores = u16::try_from(instance.semaphores).unwrap_or(u16::MAX);
        let quota = Quota { threads, semaphores, locks: threads, priority: instance.priority as u8 };
        state.core.set_quota(instance.number as u8, quota);
    }
    for interrupt in glue::interrupts() {
        // The layout numbers them from zero, each once.
        let _ = state.core.adopt_semaphore(interrupt.semaphore as u16, interrupt.domain as u8, 0);
    }
    // Domain 0 is nobody's: it owns what is the scheduler's own.
    state.core.set_quota(0, Quota { semaphores: 1, ..Quota::NONE });
    if let Ok(semaphore) = state.core.create_semaphore(0, 0) {
        state.fault_semaphore = semaphore;
        state.core.set_supervisor_semaphore(semaphore);
    }
    for thread in glue::first_threads() {
        if thread.idle == 0 {
            let _ = state.core.adopt_thread(thread.index as u8, thread.domain as u8, thread.priority as u8);
        }
    }
}

impl interfaces::SchedulerControl for Server {
    fn next_fault(&self) -> Result<u64, Error> {
        STATE.with(|state| state.core.next_fault()).map(|handle| handle.0)
    }

    fn fault_cause(&self, other: u64) -> Result<u64, Error> {
        Ok(STATE.with(|state| state.core.fault_of(Handle(other).thread())).cause)
    }

    fn fault_value(&self, other: u64) -> Result<u64, Error> {
        Ok(STATE.with(|state| state.core.fault_of(Handle(other).thread())).value)
    }

    fn stop(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        operation(|state, now| state.core.stop(index(thread), Handle(other), now)).map(drop)
    }

    fn resume(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        operation(|state, now| state.core.resume(index(thread), Handle(other), now)).map(drop)
    }

    fn kill(&self, thread: CallerThread, other: u64) -> Result<(), Error> {
        operation(|state, now| state.core.kill(index(thread), Handle(other), now)).map(drop)
    }

    fn reclaim(&self, thread: CallerThread, domain: u64, cursor: u64) -> Result<u64, Error> {
        let domain = u8::try_from(domain).map_err(|_| Error::BadArgument)?;
        operation(|state, now| {
            let outcome = state.core.reclaim(index(thread), domain, cursor, now);
            // A driver's portals name its devices' semaphores for good, so these exist again at once,
            // before anybody else can be given their indexes.
            for interrupt in glue::interrupts().iter().filter(|interrupt| interrupt.domain == domain.into()) {
                let _ = state.core.adopt_semaphore(interrupt.semaphore as u16, domain, 0);
            }
            outcome
        })
    }

    fn cancel_wait(&self, thread: CallerThread, other: u64) -> Result<u64, Error> {
        operation(|state, now| state.core.cancel_wait(index(thread), Handle(other), now))
    }

    fn wait_fault(&self, thread: CallerThread, caller: Caller, deadline: u64) -> Result<(), Error> {
        operation(|state, now| {
            let semaphore = state.fault_semaphore.into();
            state.core.timed_p(index(thread), domain(caller), semaphore, deadline, now)
        })
        .map(drop)
    }

    fn alarm(&self, thread: CallerThread) -> Result<(), Error> {
        operation(|state, now| state.core.v(index(thread), state.fault_semaphore.into(), now)).map(drop)
    }

    fn abandon_queue(&self, thread: CallerThread, queue: u64) -> Result<u64, Error> {
        operation(|state, now| state.core.abandon_queue(index(thread), queue, now))
    }

    fn start(&self, thread: CallerThread, domain: u64, entry: u64, stack: u64, _link: u64, priority: u8) -> Result<u64, Error> {
        let domain = u8::try_from(domain).map_err(|_| Error::BadArgument)?;
        let start = Start { entry, stack, argument: 0 };
        operation(|state, now| state.core.spawn(index(thread), domain, start, priority.into(), now))
    }

    fn thread_name(&self, other: u64) -> Result<u64, Error> {
        let other = ThreadIndex::try_from(other).map_err(|_| Error::NotFound)?;
        STATE.with(|state| state.core.handle(other)).map(|handle| handle.0)
    }

    fn thread_state(&self, other: u64) -> Result<u64, Error> {
        let other = ThreadIndex::try_from(other).map_err(|_| Error::NotFound)?;
        STATE.with(|state| state.core.describe(other))
    }

    fn thread_time(&self, other: u64) -> Result<u64, Error> {
        let other = ThreadIndex::try_from(other).map_err(|_| Error::NotFound)?;
        Ok(STATE.with(|state| state.core.time_used(other, counter())))
    }

    fn fault_semaphore(&self) -> Result<u64, Error> {
        Ok(STATE.with(|state| state.fault_semaphore.into()))
    }

    fn allocate_semaphore(&self, domain: u64, initial: u64) -> Result<u64, Error> {
        let domain = u8::try_from(domain).map_err(|_| Error::BadArgument)?;
        STATE.with(|state| state.core.create_semaphore(domain, initial)).map(u64::from)
    }

    fn free_semaphore(&self, domain: u64, semaphore: u64) -> Result<(), Error> {
        let domain = u8::try_from(domain).map_err(|_| Error::BadArgument)?;
        STATE.with(|state| state.core.free_semaphore(domain, semaphore))
    }

    fn allocate_lock(&self, domain: u64) -> Result<u64, Error> {
        let domain = u8::try_from(domain).map_err(|_| Error::BadArgument)?;
        STATE.with(|state| state.core.create_lock(domain)).map(u64::from)
    }

    fn free_lock(&self, domain: u64, lock: u64) -> Result<(), Error> {
        let domain = u8::try_from(domain).map_err(|_| Error::BadArgument)?;
        STATE.with(|state| state.core.free_lock(domain, lock))
    }
}
