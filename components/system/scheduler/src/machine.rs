//! What the scheduler needs of the machine, and what it answers.

use crate::thread::ThreadIndex;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::AtomicI64;

/// The scheduler's privileged portals and the semaphore words.
pub trait Machine {
    /// How an operation ends. On the target it is the portal's reply, and [`Machine::switch`] does not
    /// return; a test takes [`Outcome`].
    type Outcome;
    /// The thread that called, or was interrupted, goes on. `status` is 0, a positive code of the
    /// method, or a negative [`Error`]; `value` is that of a successful call.
    fn reply(&mut self, status: i64, value: u64) -> Self::Outcome;
    /// Another thread goes on; `status` and `value` are its `a0` and `a1`, unless a trap had stopped
    /// it.
    fn switch(&mut self, thread: ThreadIndex, status: i64, value: u64) -> Self::Outcome;
    /// A semaphore's count, and the level of the thread that waits for it alone; shared with portal code. `semaphore` is below
    /// [`crate::SEMAPHORES`]. Everything runs on one hart with interrupts off, so relaxed loads and
    /// stores are enough.
    fn semaphore(&self, semaphore: u16) -> &[AtomicI64; 2];
    /// The level from which on portal code notes a wake-up, or the semaphore of the one that it noted.
    fn noted_word(&self) -> &AtomicI64;
    /// The word that tells return portals how many threads wait for an activation of stack queue
    /// `queue`, which is below [`crate::QUEUES`].
    fn waiters_word(&self, queue: u16) -> &AtomicI64;
    /// Whether stack queue `queue`, which is below [`crate::QUEUES`], has a free activation.
    fn has_activation(&self, queue: u16) -> bool;
    /// Makes `thread` ready to begin in `instance`.
    fn set_up_thread(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        start: &Start,
    ) -> Result<(), Error>;
    /// The time in ticks, when an operation began at `now` of the run clock: read only where it is needed, since on some
    /// machines that is a trap.
    fn time(&self, now: u64) -> u64;
    /// The next timer interrupt comes at `ticks` or as soon as possible after it; all ones: none.
    fn set_timer(&mut self, ticks: u64);
}

/// Where a new thread begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Address of its first instruction.
    pub entry: u64,
    /// Its stack pointer.
    pub stack: u64,
    /// Its first argument.
    pub argument: u64,
}

/// How an operation ends, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The thread that called, or was interrupted, goes on.
    Reply {
        /// 0, a positive code of the method, or a negative [`Error`].
        status: i64,
        /// The value of a successful call.
        value: u64,
    },
    /// Another thread goes on.
    Switch {
        /// That thread.
        thread: ThreadIndex,
        /// Its `a0`, unless a trap had stopped it.
        status: i64,
        /// Its `a1`, unless a trap had stopped it.
        value: u64,
    },
}
