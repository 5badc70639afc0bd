//! What a scheduler serves. Every method runs in the scheduler with interrupts off, to completion.

use cairn::thread::Start;
use cairn::{Caller, CallerThread, Error};

/// Threads of the caller's domain.
#[cairn::interface]
pub trait Threads {
    /// Lets another ready thread of the same priority run.
    fn yield_now(&self, thread: CallerThread) -> Result<(), Error>;
    /// Sleeps until an absolute time in ticks.
    fn sleep_until(&self, thread: CallerThread, caller: Caller, time: u64) -> Result<(), Error>;
    /// Starts a thread in the caller's domain; [`crate::spawn`] makes the start of a function. The
    /// thread ends when its first function returns. The value names the thread: its index in bits 0
    /// to 7, its generation above.
    fn spawn(
        &self,
        thread: CallerThread,
        caller: Caller,
        start: Start,
        priority: u8,
    ) -> Result<u64, Error>;
    /// Waits until the thread that `spawn` named has ended.
    fn join(&self, thread: CallerThread, caller: Caller, other: u64) -> Result<(), Error>;
    /// Changes the priority of a thread of the caller's domain, at most to that of the domain's first
    /// thread.
    fn set_priority(
        &self,
        thread: CallerThread,
        caller: Caller,
        other: u64,
        priority: u8,
    ) -> Result<(), Error>;
    /// Ticks that the calling thread has run.
    fn time_used(&self, thread: CallerThread) -> Result<u64, Error>;
    /// The name of the calling thread, as `spawn` answers.
    fn own_name(&self, thread: CallerThread) -> Result<u64, Error>;
}

/// A semaphore: an object. Its first two methods are hybrid portals, which enter the scheduler only
/// to block or to wake.
#[cairn::interface]
pub trait Semaphore {
    /// Takes one; waits for it if there is none.
    fn p(&self, thread: CallerThread, caller: Caller) -> Result<(), Error>;
    /// Gives one.
    fn v(&self, thread: CallerThread) -> Result<(), Error>;
    /// Takes one, or fails with `WouldBlock`.
    fn try_p(&self, thread: CallerThread) -> Result<(), Error>;
    /// Takes one, or fails with `TimedOut` when the time in ticks comes first.
    fn p_until(&self, thread: CallerThread, caller: Caller, deadline: u64) -> Result<(), Error>;
}

/// A lock with priority inheritance: an object. Its holder runs at least with the priority of
/// the threads that wait for it.
#[cairn::interface]
pub trait Lock {
    /// Takes it, or waits for it. `Busy`: the thread would wait for itself.
    fn lock(&self, thread: CallerThread, caller: Caller) -> Result<(), LockError>;
    /// Gives it back.
    fn unlock(&self, thread: CallerThread) -> Result<(), Error>;
}

/// How `lock` can end beside success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
pub enum LockError {
    /// The lock is taken, but its last owner ended while it held it: what it protects may be half
    /// done.
    OwnerEnded,
    /// The call failed.
    Portal(Error),
}

/// Where the nucleus enters the scheduler. The host tool finds these methods by their names. All find the same words: the
/// thread, the trap's cause and value, the domain where the thread was; a method takes the first ones, as many as it needs.
#[cairn::interface]
pub trait SchedulerUpcalls {
    /// The machine has started.
    fn boot(&self) -> Result<(), Error>;
    /// The thread returned from its first function.
    fn exit(&self, thread: CallerThread) -> Result<(), Error>;
    /// The timer's time has come.
    fn timer(&self, thread: CallerThread) -> Result<(), Error>;
    /// A stack was released for which threads may wait.
    fn software(&self, thread: CallerThread) -> Result<(), Error>;
    /// The thread faulted; `cairn_abi::arch::trap::fault` reads `cause` and `value`.
    fn fault(&self, thread: CallerThread, cause: u64, value: u64) -> Result<(), Error>;
    /// The thread called a server that has no free stack for it; `value` is the stack queue's
    /// address. When it goes on, it calls again.
    fn stack_wait(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        domain: Caller,
    ) -> Result<(), Error>;
}

/// Further methods for threads of a scheduler that knows deadlines (`scheduler-edf`).
#[cairn::interface]
pub trait Deadlines {
    /// Gives a thread of the caller's domain a period in ticks, not shorter than that of the domain's
    /// highest priority. Its present job begins now.
    fn set_period(
        &self,
        thread: CallerThread,
        caller: Caller,
        other: u64,
        period: u64,
    ) -> Result<(), Error>;
}

/// How the interrupt dispatcher passes an interrupt on; the call does not return to it.
#[cairn::interface]
pub trait InterruptSignals {
    /// V on the semaphore of a device, then the best thread runs.
    fn signal(&self, thread: CallerThread, semaphore: u64) -> Result<(), Error>;
}
