//! What a scheduler serves. Every method runs in the scheduler with interrupts off, to completion.

use cairn::thread::Start;
use cairn::{Caller, CallerThread, Error, InstanceId};

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

/// Where the nucleus enters the scheduler. `domain` is where the thread was. The host tool finds these methods by their names.
#[cairn::interface]
pub trait SchedulerUpcalls {
    /// The machine has started; thread `thread` is whichever comes first.
    fn boot(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        domain: Caller,
    ) -> Result<(), Error>;
    /// The thread returned from its first function.
    fn exit(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        domain: Caller,
    ) -> Result<(), Error>;
    /// The timer's time has come.
    fn timer(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        domain: Caller,
    ) -> Result<(), Error>;
    /// A stack was released for which threads may wait.
    fn software(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        domain: Caller,
    ) -> Result<(), Error>;
    /// The thread faulted; `cairn_abi::arch::trap::fault` reads `cause` and `value`.
    fn fault(
        &self,
        thread: CallerThread,
        cause: u64,
        value: u64,
        domain: Caller,
    ) -> Result<(), Error>;
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

/// What the supervisor needs of the scheduler. A thread is named by its index and generation, as
/// [`Threads::spawn`] answers.
#[cairn::interface]
pub trait SchedulerControl {
    /// The next thread that faulted and was not reported yet; `NotFound` if there is none. It
    /// stays stopped.
    fn next_fault(&self) -> Result<u64, Error>;
    /// The next instance whose first thread has ended and that was not reported yet; `NotFound` if there is
    /// none.
    fn next_returned(&self) -> Result<u64, Error>;
    /// Of a thread's last fault: 0 its cause, 1 its value, 2 when it was, in ticks.
    fn fault_of(&self, other: u64, what: u64) -> Result<u64, Error>;
    /// What a thread waits for: its state in bits 0 to 7, the index of a semaphore, lock or stack queue in 8 to 23,
    /// the thread that holds the lock in 24 to 31, the instance in which it waits in 32 to 39; bit 40: it is stopped.
    fn waits_for(&self, other: u64) -> Result<u64, Error>;
    /// Stops a thread; until it goes on, the supervisor counts as at least as urgent. `Busy`: it is stopped already.
    fn stop(&self, thread: CallerThread, other: u64) -> Result<(), Error>;
    /// Lets a stopped thread go on.
    fn resume(&self, thread: CallerThread, other: u64) -> Result<(), Error>;
    /// Ends a thread. `Busy`: only the time limit of its wait is gone yet, and it is to be ended again.
    fn kill(&self, thread: CallerThread, other: u64) -> Result<(), Error>;
    /// One step of giving back what a dead instance has here: 0 first, then what it answers, until 0.
    fn reclaim(
        &self,
        thread: CallerThread,
        instance: InstanceId,
        cursor: u64,
    ) -> Result<u64, Error>;
    /// Starts the first thread of an instance again.
    fn start(
        &self,
        thread: CallerThread,
        instance: InstanceId,
        entry: u64,
        stack: u64,
        priority: u8,
    ) -> Result<u64, Error>;
    /// The name (index and generation) of the thread that has this index now; `NotFound` if none.
    fn thread_name(&self, index: u64) -> Result<u64, Error>;
    /// State of a thread, packed: state in bits 0 to 7, priority in 8 to 15, the instance where it began in 16 to 31.
    fn thread_state(&self, index: u64) -> Result<u64, Error>;
    /// Ticks that a thread has run.
    fn thread_time(&self, index: u64) -> Result<u64, Error>;
    /// When the calling thread was switched to last: as long as this does not change, no other thread
    /// has run. A change within the same tick of the clock cannot be seen.
    fn running_since(&self) -> Result<u64, Error>;
    /// Ends a thread's wait, whatever it waits for, with `Cancelled`; 1, or 0 if it did not wait.
    fn cancel_wait(&self, thread: CallerThread, other: u64) -> Result<u64, Error>;
    /// The same, but only if it waits for what may never come: a semaphore, a time, a thread's end. Whoever
    /// waits for a lock or an activation waits for threads that give them back.
    fn cancel_event_wait(&self, thread: CallerThread, other: u64) -> Result<u64, Error>;
    /// The supervisor's thread waits until a thread faults, a first thread ends or `alarm` is called; `TimedOut` at an
    /// absolute time in ticks. It has this priority then, or that of the most urgent thread that called it.
    fn wait_fault(
        &self,
        thread: CallerThread,
        caller: Caller,
        deadline: u64,
        priority: u8,
    ) -> Result<(), Error>;
    /// It goes on at this priority, until one that is more urgent calls it. `Busy`: there is something to ask
    /// for, and its priority is still that of its caller.
    fn work_at(&self, thread: CallerThread, priority: u8) -> Result<(), Error>;
    /// Calls the supervisor, as a fault does; its own threads lend it no urgency but that of those whom they stopped.
    fn alarm(&self, thread: CallerThread) -> Result<(), Error>;
    /// Index of the semaphore that is raised for each fault.
    fn fault_semaphore(&self) -> Result<u64, Error>;
    /// Allocates a semaphore for an instance; the value is its index.
    fn allocate_semaphore(&self, instance: InstanceId, initial: u64) -> Result<u64, Error>;
    /// Frees a semaphore of an instance.
    fn free_semaphore(&self, instance: InstanceId, semaphore: u64) -> Result<(), Error>;
    /// Allocates a lock for an instance; the value is its index.
    fn allocate_lock(&self, instance: InstanceId) -> Result<u64, Error>;
    /// Frees a lock of an instance.
    fn free_lock(&self, instance: InstanceId, lock: u64) -> Result<(), Error>;
    /// What an instance has, packed: threads in bits 0 to 15, semaphores in 16 to 31, locks in 32 to 47.
    fn held(&self, instance: InstanceId) -> Result<u64, Error>;
}
