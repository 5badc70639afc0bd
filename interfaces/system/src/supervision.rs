//! What a scheduler serves beside its clients' threads. A thread is named as [`Threads::spawn`](crate::Threads::spawn)
//! answers.

use cairn::{Caller, CallerThread, Error, InstanceId};

/// What a supervisor needs of the scheduler.
#[cairn::interface]
pub trait Supervision {
    /// The next thread that faulted and was not reported yet; `NotFound` if there is none. It
    /// stays stopped.
    fn next_fault(&self) -> Result<ThreadFault, Error>;
    /// The next instance whose first thread has ended and that was not reported yet; `NotFound` if there is
    /// none.
    fn next_returned(&self) -> Result<InstanceId, Error>;
    /// What a thread waits for.
    fn waits_for(&self, other: u64) -> Result<Wait, Error>;
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
    /// Ends a thread's wait, whatever it waits for, with `Cancelled`; whether it waited. One that waited for an activation
    /// calls again.
    fn cancel_wait(&self, thread: CallerThread, other: u64) -> Result<bool, Error>;
    /// A thread goes on without the processor budget of its instance, or no longer does: others wait until it has come home.
    fn lift_budget(&self, other: u64, is_lifted: bool) -> Result<(), Error>;
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
    /// There is a new instance, which has so much of the quota of its `parent`, as long as it is there; and its threads at most this
    /// priority. `Exhausted`: the parent has not so much that it does not use; `NotAllowed`: nor this priority; `Busy`: there is one of
    /// this number.
    fn add_domain(
        &self,
        instance: InstanceId,
        parent: InstanceId,
        threads: u32,
        semaphores: u32,
        locks: u32,
        priority: u8,
    ) -> Result<(), Error>;
    /// The semaphore of a device is free, since its driver is no more, to which nothing signals any more. `NotAllowed`: it is none of that instance;
    /// `Busy`: somebody waits for it, or the instance has threads.
    fn remove_device(&self, instance: InstanceId, semaphore: u32) -> Result<(), Error>;
    /// An instance is no more; its parent, unless it is 0, has its quota again. `Busy`: it has threads, semaphores, locks or devices.
    fn retire_domain(&self, instance: InstanceId, parent: InstanceId) -> Result<(), Error>;
    /// Where portals can lead to while this scheduler gives way to another: the first of so many places of 16 bytes, which lead to its own
    /// methods.
    fn face(&self) -> Result<u64, Error>;
    /// Where a place of the face leads: to a method of this scheduler, and of the other when that has taken over. `NotFound`: there is no such place.
    fn lead(&self, place: u64, entry: u64, successor: u64) -> Result<(), Error>;
    /// Has the scheduler whose `succeed` is at this address do all that it can do before it knows which threads there are. `VersionMismatch`: it does not understand this
    /// one's state.
    fn prepare_succession(&self, thread: CallerThread, entry: u64) -> Result<(), Error>;
    /// Lets it take over: from then on it answers whatever comes by the face, this one never again. The value
    /// is for how long, by the run clock, interrupts were off for that. `NotReady`: it has not prepared itself, and this one goes on.
    fn succeed_by(&self, thread: CallerThread, entry: u64) -> Result<u64, Error>;
    /// Of a scheduler that no portal leads to yet: its predecessor, which alone knows the addresses, has it take over. Of any other: `NotAllowed`.
    fn succeed(&self, thread: CallerThread, estate: u64, leads: u64) -> Result<u64, Error>;
    /// The thread that runs when no other does begins anew, in the instance in which it began before: in the content that this has now. It does not run meanwhile.
    fn idle_anew(&self, instance: InstanceId, entry: u64, stack: u64) -> Result<(), Error>;
    /// Calls the supervisor, as a fault does; its own threads lend it no urgency but that of the threads that they stopped.
    fn alarm(&self, thread: CallerThread) -> Result<(), Error>;
}

/// The fault of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct ThreadFault {
    /// Its name.
    pub thread: u64,
    /// Its cause, as the machine numbers it.
    pub cause: u64,
    /// The machine's value of it: an address.
    pub value: u64,
    /// When it was, in ticks.
    pub time: u64,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum Activity {
    /// It runs, or could, also if the end of its wait is put off as long as a more urgent thread runs. What it waits for does not say
    /// that of the end of a wait.
    Ready,
    /// It waits for a semaphore.
    Semaphore,
    /// It waits for a lock.
    Lock,
    /// It waits for a thread's end.
    Join,
    /// It waits for an activation of a stack queue.
    Stack,
    /// It waits for a time.
    Sleep,
    /// It could run, but stands still for the supervisor. What it waits for does not say so.
    Stopped,
    /// It could run, but the processor budget of its instance is used up. What it waits for does not say so.
    Throttled,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct Wait {
    /// What kind of thing.
    pub activity: Activity,
    /// The index of the semaphore, lock or stack queue.
    pub object: u16,
    /// The index of the thread that holds the lock; 0: none.
    pub holder: u64,
    /// The instance in which it waits.
    pub instance: InstanceId,
}

/// What the portal manager needs of the scheduler: what becomes an object's portals. The value is its index.
#[cairn::interface]
pub trait SchedulerObjects {
    /// Allocates a semaphore for an instance.
    fn allocate_semaphore(&self, instance: InstanceId, initial: u64) -> Result<u64, Error>;
    /// Frees a semaphore of an instance.
    fn free_semaphore(&self, instance: InstanceId, semaphore: u64) -> Result<(), Error>;
    /// Allocates a lock for an instance.
    fn allocate_lock(&self, instance: InstanceId) -> Result<u64, Error>;
    /// Frees a lock of an instance.
    fn free_lock(&self, instance: InstanceId, lock: u64) -> Result<(), Error>;
    /// Whoever waits for an activation of this stack queue, which has none, goes on and calls again, the most urgent first.
    fn look_at_stacks(&self, thread: CallerThread, queue: u64) -> Result<(), Error>;
    /// How many threads wait for an activation of it.
    fn stack_waiters(&self, queue: u64) -> Result<u64, Error>;
}

/// What may be known of threads; asking changes nothing.
#[cairn::interface]
pub trait SchedulerStatistics {
    /// The thread that has this index now; `NotFound` if there is none.
    fn thread(&self, index: u64) -> Result<ThreadState, Error>;
    /// Ticks that a thread has run; of the idle thread, perhaps without those in which the hart waited.
    fn thread_time(&self, index: u64) -> Result<u64, Error>;
    /// When the calling thread was switched to last, by the run clock: as long as this does not change, no other thread
    /// has run. A change within the same count of that clock cannot be seen.
    fn running_since(&self) -> Result<u64, Error>;
    /// What an instance has.
    fn held(&self, instance: InstanceId) -> Result<Held, Error>;
    /// Ticks that threads ran which began in an instance and have ended.
    fn time_ended(&self, instance: InstanceId) -> Result<u64, Error>;
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct ThreadState {
    /// Its name.
    pub name: u64,
    /// The instance in which it began; 0: it is the idle thread.
    pub home: InstanceId,
    /// What it does.
    pub activity: Activity,
    /// Its own priority.
    pub priority: u8,
}

/// What an instance has of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct Held {
    /// Threads that began in it.
    pub threads: u16,
    /// Semaphores.
    pub semaphores: u16,
    /// Locks.
    pub locks: u16,
}
