//! The ready queue: which thread runs.

use crate::bitmap::Bitmap;
use crate::thread::{IDLE, Thread, ThreadIndex, Threads};

/// The policy of a scheduler. The rest of the core only asks which thread is first, so another policy is
/// another implementation of this trait. Every method has a bound that does not depend on what
/// components do. [`IDLE`] is never inserted.
///
/// *Urgency* is a number, smaller for the more urgent thread; a thread has its own, and the one that
/// counts, which may be that of a more urgent thread that waits for a lock it holds.
pub trait ReadyQueue {
    /// A queue before [`ReadyQueue::start`], all zeros.
    const ZERO: Self;
    /// Whether threads have budgets of time, so that events and the time that passes change their own urgencies. Then all
    /// classes are 0. If not, no method gets a time but zero, those of budgets are never called, and quanta are marked.
    const BUDGETS: bool;

    /// Before anything else: the queue is empty. Execution is counted by a clock of this rate, in a tick.
    fn start(&mut self, run_rate: u64);
    /// The thread that should run; [`IDLE`] if none is ready.
    fn first(&self) -> ThreadIndex;
    /// Shows the ready threads, equals in their order. All have numbers below `end`.
    fn each_ready(&self, threads: &Threads, end: usize, each: impl FnMut(ThreadIndex));
    /// `thread` becomes ready, behind its equals; true if it is the first thread now.
    fn insert(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool;
    /// `thread` becomes ready, before its equals.
    fn insert_front(&mut self, threads: &mut Threads, thread: ThreadIndex);
    /// `thread` is no longer ready; true if the first thread is of another class now, as far as the policy knows classes.
    fn remove(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool;
    /// The same of `first`, which is the first thread and not [`IDLE`].
    fn remove_first(&mut self, threads: &mut Threads, first: ThreadIndex) -> bool;
    /// `first`, which is the first thread and not [`IDLE`], lets its equals go first. With budgets, its own urgency
    /// may change.
    fn rotate(&mut self, threads: &mut Threads, first: ThreadIndex, time: u64);
    /// The first thread has used up its quantum.
    fn quantum_used(&mut self, threads: &mut Threads, first: ThreadIndex, time: u64);
    /// From which class on a thread that becomes ready comes behind the first one, as its equal or less urgent; 256:
    /// from none. Portal code notes the wake-ups of those.
    fn behind_first(&self) -> u16;
    /// True if the first thread has to share the processor by quanta.
    fn shares(&self, threads: &Threads) -> bool;

    /// The urgency that counts.
    fn urgency(&self, threads: &Threads, thread: ThreadIndex) -> u64;
    /// The class of this urgency: threads of a smaller class go before all of a greater one. Work for threads of
    /// class 0 is never put off, so a policy that cannot tell says 0 for all.
    fn class(&self, urgency: u64) -> u8;
    /// The most urgent class of a thread of this priority, while others lend it nothing.
    fn class_of_priority(&self, _priority: u8) -> u8 {
        0
    }
    /// The thread's own urgency.
    fn own_urgency(&self, threads: &Threads, thread: ThreadIndex) -> u64;
    /// Sets the urgency that counts, of a thread that is in no queue.
    fn set_urgency(&mut self, threads: &mut Threads, thread: ThreadIndex, urgency: u64);
    /// Sets the thread's own urgency by its priority, of a thread in any state. The urgency that
    /// counts stays.
    fn set_priority(&mut self, threads: &mut Threads, thread: ThreadIndex, priority: u8, time: u64);
    /// A wait for an event that happened at `time` has ended: the thread's own urgency may change.
    fn release(&mut self, threads: &Threads, thread: ThreadIndex, time: u64);
    /// Order among waiters: by urgency, and by `sequence` (below 2^56) among equals.
    fn wait_key(&self, threads: &Threads, thread: ThreadIndex, sequence: u64) -> u64;

    /// Budgets: `thread`, which has not run yet, begins in `home`. Its priority is set next.
    fn begin(&mut self, _thread: ThreadIndex, _home: usize, _time: u64) {}
    /// Budgets: `thread` has ended. What its budget owes is left to those that begin in `home` later.
    fn end(&mut self, _threads: &Threads, _thread: ThreadIndex, _home: usize, _time: u64) {}
    /// Budgets: `running` ran for so long, by the run clock, and `payer` pays for it.
    fn charge(&mut self, _running: ThreadIndex, _payer: ThreadIndex, _ran: u64) {}
    /// Budgets: when the budget of `payer`, or a refill, changes something, if the first thread goes on at `time` and `payer` pays.
    fn next_change(&self, _threads: &Threads, _payer: ThreadIndex, _time: u64) -> u64 {
        u64::MAX
    }
    /// Budgets: the thread in the background whose refill is due; [`IDLE`]: none is.
    fn next_to_refill(&self, _time: u64) -> ThreadIndex {
        IDLE
    }
    /// Budgets: whether the thread has used its budget up.
    fn is_used_up(&self, _threads: &Threads, _thread: ThreadIndex) -> bool {
        false
    }
    /// Budgets: does what is due to the budget of `thread`; true if its own urgency has changed.
    fn change_budget(&mut self, _: &Threads, _thread: ThreadIndex, _time: u64) -> bool {
        false
    }
    /// Budgets: when the thread, or an owner from which it got a lock, last went on after an event.
    fn woken(&self, _thread: ThreadIndex) -> u64 {
        0
    }
    /// Budgets: `thread` begins to wait for a lock.
    fn hold_up(&mut self, _thread: ThreadIndex, _time: u64) {}
    /// Budgets: `thread` waits for a lock whose owner went on after an event at `woken`. If that was since it waits, this is
    /// an event for it, too: true if its own urgency has changed.
    fn resume_held_up(&mut self, _: &Threads, _thread: ThreadIndex, _woken: u64, _: u64) -> bool {
        false
    }
}

/// Level of the idle thread: below all.
const LEVEL_NONE: u16 = 256;

/// Fixed priorities, round robin inside a priority; all operations take constant time.
///
/// The threads of a priority are a ring. The ring of the highest priority is held apart in
/// `first`, the others in a table with a bitmap of its used entries; so neither a yield nor a wait
/// or wake-up inside the running priority touches table and bitmap. Levels are 255 less the
/// priority, because finding the lowest bit set is cheaper than finding the highest.
#[repr(C)]
pub struct FixedPriority {
    first: ThreadIndex,
    first_level: u16,
    levels: Bitmap<4>,
    /// The first thread of each level below `first_level`; [`IDLE`]: none.
    heads: [ThreadIndex; 256],
}

impl FixedPriority {
    /// Threads of the first ring become an entry of the table.
    #[inline(always)]
    fn put_down_first(&mut self) {
        if self.first != IDLE {
            let level = self.first_level as u8;
            self.heads[level as usize] = self.first;
            self.levels.set(level.into());
        }
    }

    /// The best ring of the table becomes the first.
    #[inline(always)]
    fn lift_first(&mut self) {
        match self.levels.first() {
            None => {
                self.first = IDLE;
                self.first_level = LEVEL_NONE;
            }
            Some(level) => {
                let level = level as u8;
                self.levels.clear(level.into());
                self.first = self.heads[level as usize];
                self.first_level = level.into();
                self.heads[level as usize] = IDLE;
            }
        }
    }
}

/// Puts `thread` at the end of the ring that begins at `head`.
#[inline(always)]
fn append(threads: &mut Threads, head: ThreadIndex, thread: ThreadIndex) {
    let tail = threads[head as usize].previous;
    threads[head as usize].previous = thread;
    threads[tail as usize].next = thread;
    let record = &mut threads[thread as usize];
    record.next = head;
    record.previous = tail;
}

/// `thread` is a ring of one.
#[inline(always)]
fn alone(thread: ThreadIndex, record: &mut Thread) {
    record.next = thread;
    record.previous = thread;
}

/// Takes `thread` out of its ring.
#[inline(always)]
fn unlink(threads: &mut Threads, thread: ThreadIndex) {
    let Thread { next, previous, .. } = threads[thread as usize];
    threads[next as usize].previous = previous;
    threads[previous as usize].next = next;
}

impl ReadyQueue for FixedPriority {
    const ZERO: FixedPriority =
        FixedPriority { first: IDLE, first_level: 0, heads: [IDLE; 256], levels: Bitmap::EMPTY };
    const BUDGETS: bool = false;

    fn start(&mut self, _: u64) {
        self.first_level = LEVEL_NONE;
    }

    #[inline(always)]
    fn first(&self) -> ThreadIndex {
        self.first
    }

    fn each_ready(&self, threads: &Threads, _: usize, mut each: impl FnMut(ThreadIndex)) {
        let heads = self.levels.iter().map(|level| self.heads[level % self.heads.len()]);
        for head in Some(self.first).into_iter().chain(heads).filter(|head| *head != IDLE) {
            let mut thread = head;
            // A ring has no more.
            for _ in 0..threads.len() {
                each(thread);
                thread = threads[thread as usize].next;
                if thread == head {
                    break;
                }
            }
        }
    }

    #[inline(always)]
    fn insert(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool {
        let level = threads[thread as usize].level;
        if u16::from(level) < self.first_level {
            self.put_down_first();
            self.first = thread;
            self.first_level = level.into();
            alone(thread, &mut threads[thread as usize]);
            return true;
        }
        if u16::from(level) == self.first_level {
            append(threads, self.first, thread);
        } else if self.heads[level as usize] != IDLE {
            append(threads, self.heads[level as usize], thread);
        } else {
            self.heads[level as usize] = thread;
            self.levels.set(level.into());
            alone(thread, &mut threads[thread as usize]);
        }
        false
    }

    fn insert_front(&mut self, threads: &mut Threads, thread: ThreadIndex) {
        // In a ring, the end is the place before the beginning.
        self.insert(threads, thread);
        let level = threads[thread as usize].level;
        if u16::from(level) == self.first_level {
            self.first = thread;
        } else {
            self.heads[level as usize] = thread;
        }
    }

    fn remove(&mut self, threads: &mut Threads, thread: ThreadIndex) -> bool {
        if thread == self.first {
            return self.remove_first(threads, thread);
        }
        let Thread { next, level, .. } = threads[thread as usize];
        unlink(threads, thread);
        if self.heads[level as usize] == thread {
            if next == thread {
                self.heads[level as usize] = IDLE;
                self.levels.clear(level.into());
            } else {
                self.heads[level as usize] = next;
            }
        }
        false
    }

    #[inline(always)]
    fn remove_first(&mut self, threads: &mut Threads, first: ThreadIndex) -> bool {
        let next = threads[first as usize].next;
        if next == first {
            self.lift_first();
            true
        } else {
            unlink(threads, first);
            self.first = next;
            false
        }
    }

    #[inline(always)]
    fn rotate(&mut self, threads: &mut Threads, first: ThreadIndex, _time: u64) {
        self.first = threads[first as usize].next;
    }

    fn quantum_used(&mut self, threads: &mut Threads, first: ThreadIndex, time: u64) {
        self.rotate(threads, first, time);
    }

    #[inline(always)]
    fn behind_first(&self) -> u16 {
        self.first_level
    }

    #[inline(always)]
    fn shares(&self, threads: &Threads) -> bool {
        // Nothing links the idle thread, so its own link is its number.
        threads[self.first as usize].next != self.first
    }

    #[inline(always)]
    fn urgency(&self, threads: &Threads, thread: ThreadIndex) -> u64 {
        threads[thread as usize].level.into()
    }

    #[inline(always)]
    fn class(&self, urgency: u64) -> u8 {
        urgency as u8
    }

    fn class_of_priority(&self, priority: u8) -> u8 {
        255 - priority
    }

    #[inline(always)]
    fn own_urgency(&self, threads: &Threads, thread: ThreadIndex) -> u64 {
        threads[thread as usize].own_level.into()
    }

    #[inline(always)]
    fn set_urgency(&mut self, threads: &mut Threads, thread: ThreadIndex, urgency: u64) {
        threads[thread as usize].level = urgency as u8;
    }

    fn set_priority(&mut self, threads: &mut Threads, thread: ThreadIndex, priority: u8, _: u64) {
        threads[thread as usize].own_level = 255 - priority;
    }

    #[inline(always)]
    fn release(&mut self, _: &Threads, _: ThreadIndex, _: u64) {}

    #[inline(always)]
    fn wait_key(&self, threads: &Threads, thread: ThreadIndex, sequence: u64) -> u64 {
        u64::from(threads[thread as usize].level) << 56 | sequence
    }
}
