//! Threads that faulted: they are stopped, and in a ring until the supervisor has asked for them.

use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{FAULT_QUEUED, Handle, IDLE, STOPPED, ThreadIndex, Threads};
use cairn_abi::Error;

/// Why a thread was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The trap's cause.
    pub cause: u64,
    /// What the trap tells, for example the address.
    pub value: u64,
    /// When it happened.
    pub time: u64,
}

impl Fault {
    /// No fault.
    pub const NONE: Fault = Fault { cause: 0, value: 0, time: 0 };
}

/// The faults of all threads.
pub(crate) struct Faults {
    /// First of the ring of threads whose fault the supervisor has not seen.
    first: ThreadIndex,
    of: [Fault; 256],
}

impl Faults {
    pub(crate) const NONE: Faults = Faults { first: IDLE, of: [Fault::NONE; 256] };

    /// The same fault of a thread, and the same queue, as of another scheduler.
    pub(crate) fn inherit(&mut self, from: &Faults, thread: ThreadIndex) {
        self.first = from.first;
        self.of[thread as usize] = from.of[thread as usize];
    }

    /// A thread without a fault begins with this number.
    pub(crate) fn begin(&mut self, thread: ThreadIndex) {
        self.of[thread as usize] = Fault::NONE;
    }

    /// Puts `thread` last into the queue, in which it is not yet.
    fn queue(&mut self, threads: &mut Threads, thread: ThreadIndex) {
        let first = self.first;
        if first == IDLE {
            self.first = thread;
        }
        let next = if first == IDLE { thread } else { first };
        let previous = if first == IDLE { thread } else { threads[first as usize].previous };
        threads[thread as usize].next = next;
        threads[thread as usize].previous = previous;
        threads[next as usize].previous = thread;
        threads[previous as usize].next = thread;
    }

    /// Takes `thread` out of the queue of faults if it is there.
    pub(crate) fn forget(&mut self, threads: &mut Threads, thread: ThreadIndex) {
        let record = &mut threads[thread as usize];
        if record.flags & FAULT_QUEUED == 0 {
            return;
        }
        record.flags &= !FAULT_QUEUED;
        if thread == IDLE {
            return;
        }
        let (next, previous) = (record.next, record.previous);
        threads[next as usize].previous = previous;
        threads[previous as usize].next = next;
        if self.first == thread {
            self.first = if next == thread { IDLE } else { next };
        }
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// The running thread faulted: stops it and calls the supervisor with its urgency. [`IDLE`] cannot be stopped; its
    /// fault is queued too.
    pub fn fault(&mut self, thread: ThreadIndex, cause: u64, value: u64, now: u64) -> M::Outcome {
        self.faults.of[thread as usize] = Fault { cause, value, time: self.machine.time(now) };
        let urgency = self.ready.urgency(&self.threads, thread);
        if thread == IDLE {
            self.threads[IDLE as usize].flags |= FAULT_QUEUED;
        } else {
            self.ready.remove_first(&mut self.threads, thread);
            self.note_nothing();
            self.threads[thread as usize].flags |= STOPPED | FAULT_QUEUED;
            self.faults.queue(&mut self.threads, thread);
        }
        self.call_supervisor(urgency, now);
        if self.deferred {
            self.take_up();
        }
        self.finish(thread, 0, 0, now)
    }

    /// The next thread that faulted and was not reported yet. It stays stopped.
    pub fn next_fault(&mut self) -> Result<Handle, Error> {
        let thread = self.faults.first;
        if self.threads[thread as usize].flags & FAULT_QUEUED == 0 {
            return Err(Error::NotFound);
        }
        self.faults.forget(&mut self.threads, thread);
        self.handle(thread)
    }

    /// The last fault of a thread.
    pub fn fault_of(&self, thread: ThreadIndex) -> Fault {
        self.faults.of[thread as usize]
    }
}
