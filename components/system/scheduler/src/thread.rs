//! What the scheduler knows of a thread.

use crate::quota::Tenant;
use cairn_abi::thread::{NAME_INDEX_BITS, THREADS_MAXIMUM, index_of_name};

/// Number of a thread. It covers the whole table, so that no index needs a check.
pub type ThreadIndex = u8;
/// The idle thread runs when no other is ready. It never waits and is in no queue, so its number
/// serves as "none" in every queue.
pub const IDLE: ThreadIndex = 0;

/// All threads.
pub type Threads = [Thread; THREADS_MAXIMUM];
const _: () = assert!(THREADS_MAXIMUM == 1 << ThreadIndex::BITS);
const _: () = assert!(size_of::<Thread>() == 64);

/// What a thread waits for, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It runs or could run. Zero, because the hot paths store it.
    Ready,
    /// There is no such thread.
    Free,
    /// It waits in a P.
    Semaphore,
    /// It waits for a lock.
    Lock,
    /// It waits for a thread's end.
    Join,
    /// It waits for an activation of a stack queue.
    Stack,
    /// It waits for a time.
    Sleep,
    /// It has ended, but not all of its locks have gone to others yet.
    Ending,
}

/// Flag: the thread is in the queue of time limits.
pub(crate) const TIMED: u8 = 1;
/// Flag: the thread may not run, even if ready.
pub(crate) const STOPPED: u8 = 2;
/// Flag: the thread may not run until its instance has a budget again ([`crate::throttle`]).
pub(crate) const THROTTLED: u8 = 16;
/// Flag: its time limit has passed, and the end of its wait is the next thing that the timer does.
pub(crate) const EXPIRED: u8 = 8;
/// Flag: the thread is in the queue of faults.
pub(crate) const FAULT_QUEUED: u8 = 4;

/// Marks an empty place in a [`crate::heap`].
pub const NONE: u8 = 0;
const _: () = assert!(IDLE == NONE);

/// Links of an item in a [`crate::heap`].
#[derive(Clone, Copy, Debug, Eq)]
#[repr(C, align(2))]
pub struct Links {
    /// What is below on the left and on the right.
    pub(crate) below: [u8; 2],
}

impl PartialEq for Links {
    /// As one word: the compiler would load byte by byte.
    #[inline(always)]
    fn eq(&self, other: &Links) -> bool {
        u16::from_ne_bytes(self.below) == u16::from_ne_bytes(other.below)
    }
}

/// One thread: a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Thread {
    /// Order among the threads that wait for the same object; a ready queue that is a heap uses it too.
    pub(crate) wait_key: u64,
    /// When its wait ends at the latest.
    pub(crate) time_limit: u64,
    /// How long it ran, by the run clock, up to its last switch.
    pub(crate) used: u64,
    /// `used` when its present quantum began.
    pub(crate) quantum_from: u64,
    /// Its `a1` when it goes on.
    pub(crate) value: u64,
    pub(crate) wait: Links,
    pub(crate) timer: Links,
    /// Index of what it waits for.
    pub(crate) object: u16,
    pub(crate) state: State,
    pub(crate) flags: u8,
    /// Neighbours in the ring of its priority or in the queue of faults.
    pub(crate) next: ThreadIndex,
    pub(crate) previous: ThreadIndex,
    /// 255 less its priority, its own and the one that counts, so that the most urgent is zero.
    pub(crate) own_level: u8,
    pub(crate) level: u8,
    /// Its `a0` when it goes on.
    pub(crate) status: i8,
    /// Instance in which it waits.
    pub(crate) waits_in: Tenant,
    /// First of the locks that it holds.
    pub(crate) held: u8,
    /// The thread that waits for its end.
    pub(crate) joiner: ThreadIndex,
    /// Raised when it ends.
    pub(crate) generation: u32,
    /// Root of the heap of those of its locks for which others wait.
    pub(crate) contended: u8,
    /// How urgent the end of its time limit is: roughly [`crate::ReadyQueue::class`] when the limit began.
    pub(crate) limit_class: u8,
}

impl Links {
    /// Nothing is below, or the item is in no heap.
    pub(crate) const EMPTY: Links = Links { below: [NONE; 2] };
}

impl Thread {
    /// A thread that does not exist.
    pub const FREE: Thread = Thread {
        wait_key: 0,
        time_limit: 0,
        used: 0,
        quantum_from: 0,
        value: 0,
        wait: Links::EMPTY,
        timer: Links::EMPTY,
        object: 0,
        state: State::Free,
        flags: 0,
        next: IDLE,
        previous: IDLE,
        own_level: 255,
        level: 255,
        status: 0,
        waits_in: Tenant::NOBODY,
        held: 0,
        joiner: IDLE,
        generation: 0,
        contended: NONE,
        limit_class: 0,
    };

    /// Before the scheduler's start.
    pub(crate) const ZERO: Thread =
        Thread { own_level: 0, level: 0, state: State::Ready, ..Thread::FREE };

    /// Sets the key of [`crate::heap::ByWaitKey`], while the thread is in no such heap: for a ready
    /// queue that is one.
    pub fn set_wait_key(&mut self, key: u64) {
        self.wait_key = key;
    }

    /// Ticks that it ran, up to its last switch or interrupt of the timer.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Notes its priority, which a policy that does not go by it leaves to the next.
    pub fn note_priority(&mut self, priority: u8) {
        self.own_level = 255 - priority;
    }

    /// True if a handle can name it.
    pub(crate) const fn exists(&self) -> bool {
        !matches!(self.state, State::Free | State::Ending)
    }

    /// True if the thread is in the ready queue, or would be if it were not [`IDLE`].
    pub const fn runnable(&self) -> bool {
        matches!(self.state, State::Ready) && self.flags & (STOPPED | THROTTLED) == 0
    }
}

/// A thread's name that is never used again: number and generation in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u64);

impl Handle {
    pub(crate) const fn new(thread: ThreadIndex, generation: u32) -> Handle {
        Handle((generation as u64) << NAME_INDEX_BITS | thread as u64)
    }

    /// The thread's number.
    pub const fn thread(self) -> ThreadIndex {
        index_of_name(self.0) as ThreadIndex
    }

    /// The thread's generation.
    pub const fn generation(self) -> u64 {
        self.0 >> NAME_INDEX_BITS
    }
}
