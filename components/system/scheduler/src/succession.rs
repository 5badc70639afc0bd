//! How a scheduler takes over from another while threads run, wait and hold locks, in one operation: what it finds of them, and what it
//! makes anew since its policy may be another.
//!
//! Whatever is true of threads and objects is taken over as it is: who waits for what, who holds which lock, limits, accounts, names, time
//! that was used. Whatever follows from urgencies is made anew: the ready queue, the order of waiters, what locks lend. So this is all that two
//! policies have to agree on, and a policy's own state need not be understood by another. Nothing of the predecessor is changed: if the successor
//! refuses, that goes on.
//!
//! Threads are ready in the order in which they were, equals among them. Who waits with others keeps his place until [work](crate::work) that is left has made his
//! key: among equals behind who came before, and after deadlines in the order of these. A time that a policy alone knows, as what is left of a budget of `scheduler-edf`, begins anew.

use crate::bitmap::Bitmap;
use crate::faults::Faults;
use crate::heap::{self, ByWaitKey};
use crate::locks::{CHAIN_MAXIMUM, LOCKS, Lock, LockIndex, Shares};
use crate::machine::Machine;
use crate::quota::{Accounts, Tenant};
use crate::ready::ReadyQueue;
use crate::scheduler::{Configuration, Scheduler};
use crate::semaphores::{SEMAPHORES, Semaphore};
use crate::stacks::StackQueues;
use crate::thread::{
    FAULT_QUEUED, IDLE, Links, NONE, STOPPED, State, THROTTLED, Thread, ThreadIndex, Threads,
};
use crate::throttle::Throttle;
use crate::worker::Worker;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::semaphore::LEVEL_NEVER;
use cairn_abi::{Error, InstanceId};

/// Raised when what is taken over means something else.
const VERSION: u64 = 1;
/// Bits of a key that say the order of arrival ([`ReadyQueue::wait_key`]).
const SEQUENCE: u64 = (1 << 56) - 1;

/// What two schedulers have to agree on: a version, and how large the parts are.
const LAYOUT: u64 = {
    let sizes = [
        size_of::<Estate>(),
        size_of::<Thread>(),
        size_of::<Semaphore>(),
        size_of::<StackQueues>(),
        size_of::<Lock>(),
        size_of::<Shares>(),
        size_of::<Accounts>(),
        size_of::<Faults>(),
        size_of::<Throttle>(),
    ];
    let (mut layout, mut at) = (VERSION, 0);
    while at < sizes.len() {
        layout = layout.wrapping_mul(0x100_0193) ^ sizes[at] as u64;
        at += 1;
    }
    layout
};

/// Room for the threads that are ready.
pub type Order = [ThreadIndex; 256];
/// None of them.
pub const NOBODY: Order = [IDLE; 256];

/// What a scheduler leaves to its successor.
#[repr(C)]
pub struct Estate<'a> {
    /// First, and never elsewhere: whoever reads it looks at nothing else before.
    layout: u64,
    /// The thread that called, which has been accounted.
    thread: ThreadIndex,
    expiring: ThreadIndex,
    timers: ThreadIndex,
    /// How many of `order` are ready.
    ready: u16,
    /// When the operation began, by the run clock.
    began: u64,
    sequence: u64,
    armed: u64,
    alarm: u64,
    configuration: Configuration,
    worker: Worker,
    free_threads: Bitmap<4>,
    free_semaphores: Bitmap<16>,
    free_locks: Bitmap<4>,
    returned: Bitmap<{ INSTANCES_MAXIMUM / 64 }>,
    present: Bitmap<{ INSTANCES_MAXIMUM / 64 }>,
    order: &'a Order,
    threads: &'a Threads,
    semaphores: &'a [Semaphore; SEMAPHORES],
    roots: &'a [ThreadIndex; SEMAPHORES],
    stacks: &'a StackQueues,
    locks: &'a [Lock; LOCKS],
    shares: &'a [Shares; 256],
    accounts: &'a Accounts,
    homes: &'a [Tenant; 256],
    faults: &'a Faults,
    throttle: &'a Throttle,
    ended: &'a [u64; INSTANCES_MAXIMUM],
}

impl Estate<'_> {
    /// [`Error::VersionMismatch`]: it is of a scheduler with which this one does not agree.
    pub fn check(&self) -> Result<(), Error> {
        if self.layout == LAYOUT { Ok(()) } else { Err(Error::VersionMismatch) }
    }

    /// The thread that called.
    pub fn thread(&self) -> ThreadIndex {
        self.thread
    }

    /// What the description decided.
    pub fn configuration(&self) -> Configuration {
        self.configuration
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// What a successor takes over, in an operation of `thread`, after [`Scheduler::enter`]. This one goes on if none does.
    pub fn estate<'a>(
        &'a mut self,
        thread: ThreadIndex,
        order: &'a mut Order,
        now: u64,
    ) -> Estate<'a> {
        self.account(thread, now);
        let mut places = order.iter_mut();
        let mut ready = 0;
        self.ready.each_ready(&self.threads, self.configuration.threads, |thread| {
            if let Some(place) = places.next() {
                *place = thread;
                ready += 1;
            }
        });
        Estate {
            layout: LAYOUT,
            thread,
            expiring: self.expiring,
            timers: self.timers,
            ready,
            began: now,
            sequence: self.sequence,
            armed: self.armed,
            alarm: self.alarm,
            configuration: self.configuration,
            worker: self.worker,
            free_threads: self.free_threads,
            free_semaphores: self.free_semaphores,
            free_locks: self.free_locks,
            returned: self.returned,
            present: self.present,
            order,
            threads: &self.threads,
            semaphores: &self.semaphores,
            roots: &self.roots,
            stacks: &self.stacks,
            locks: &self.locks,
            shares: &self.shares,
            accounts: &self.accounts,
            homes: &self.homes,
            faults: &self.faults,
            throttle: &self.throttle,
            ended: &self.ended,
        }
    }

    /// Takes over, once, after [`Scheduler::start`] with the same configuration and whatever the policy is told before threads are adopted. Then the operation
    /// of [`Estate::thread`] ends here, with [`Scheduler::finish_succession`]. Only what is in use is looked at, since interrupts are off.
    pub fn inherit(&mut self, estate: &Estate, now: u64) {
        let time = self.policy_time(now);
        self.running_since = now;
        self.sequence = estate.sequence;
        (self.armed, self.expiring) = (estate.armed, estate.expiring);
        // How urgent their ends are is what it was when they began.
        self.timers = estate.timers;
        // One by one: a pair of them would be made on the stack first.
        self.free_threads = estate.free_threads;
        self.free_locks = estate.free_locks;
        self.free_semaphores = estate.free_semaphores;
        self.returned = estate.returned;
        self.inherit_objects(estate);
        self.inherit_accounts(estate);
        self.stacks.inherit(estate.stacks);
        // An urgency means nothing to another policy: whoever called the supervisor is as urgent as can be.
        self.worker = estate.worker.with_callers(0);
        let waits_for_lock = self.inherit_threads(estate, time);
        if estate.throttle.is_in_use() {
            self.inherit_budgets(estate.throttle);
        }
        if waits_for_lock != IDLE {
            self.inherit_lock_waits(waits_for_lock, estate);
        }
        for place in 0..usize::from(estate.ready) {
            self.ready.insert(&mut self.threads, estate.order[place % estate.order.len()]);
        }
        if estate.alarm != u64::MAX {
            self.add_alarm(0);
        }
        self.note_nothing();
        self.add_look_for_stacks();
        self.arm_before(0);
    }

    /// The accounts of all instances that there are.
    fn inherit_accounts(&mut self, estate: &Estate) {
        self.present = estate.present;
        for number in estate.present.iter() {
            let tenant = Tenant::calling(InstanceId(number as u16));
            self.accounts[tenant] = estate.accounts[tenant];
            self.ended[number % INSTANCES_MAXIMUM] = estate.ended[number % INSTANCES_MAXIMUM];
        }
    }

    /// Semaphores, and locks for which nobody waits yet.
    fn inherit_objects(&mut self, estate: &Estate) {
        for semaphore in estate.free_semaphores.iter_clear(0) {
            self.semaphores[semaphore % SEMAPHORES] = estate.semaphores[semaphore % SEMAPHORES];
            self.roots[semaphore % SEMAPHORES] = estate.roots[semaphore % SEMAPHORES];
        }
        // Lock 0 is none.
        for lock in estate.free_locks.iter_clear(1) {
            self.locks[lock % LOCKS] = estate.locks[lock % LOCKS].without_waiters();
        }
    }

    /// Whether it ever ran, or took over.
    pub fn has_run(&self) -> bool {
        self.running_since != 0
    }

    /// Ends the operation in which this scheduler has taken over. Its value is for how long interrupts were off for that, by the run clock.
    pub fn finish_succession(
        &mut self,
        thread: ThreadIndex,
        estate: &Estate,
        now: u64,
    ) -> M::Outcome {
        self.finish(thread, 0, now.wrapping_sub(estate.began), now)
    }

    /// All threads, with their own urgencies. The first of those that wait for locks, which are in no queue: each has the following one as its `next`, the last one
    /// [`IDLE`].
    fn inherit_threads(&mut self, estate: &Estate, time: u64) -> ThreadIndex {
        let mut waits_for_lock = IDLE;
        let count = estate.configuration.threads.min(estate.threads.len());
        self.homes[..count].copy_from_slice(&estate.homes[..count]);
        for number in 0..count {
            let (former, thread) = (&estate.threads[number], number as ThreadIndex);
            if former.state == State::Free {
                self.threads[number].generation = former.generation;
                continue;
            }
            copy(&mut self.threads[number], former);
            self.threads[number].contended = NONE;
            if former.flags & (STOPPED | FAULT_QUEUED) != 0 {
                self.faults.inherit(estate.faults, thread);
            }
            if thread == IDLE {
                continue;
            }
            if Q::BUDGETS {
                self.ready.begin(thread, self.homes[number].instance().index(), time);
            }
            self.ready.set_priority(&mut self.threads, thread, 255 - former.own_level, time);
            self.refresh_urgency(thread);
            if former.held != NONE || former.state == State::Lock {
                self.shares[number] = estate.shares[number];
            }
            match former.state {
                State::Ready => self.threads[number].wait = Links::EMPTY,
                State::Lock => {
                    self.threads[number].wait = Links::EMPTY;
                    self.threads[number].next = waits_for_lock;
                    waits_for_lock = thread;
                }
                State::Semaphore => {
                    self.set_level(former.object, LEVEL_NEVER);
                    self.key_later(thread);
                }
                State::Stack => self.key_later(thread),
                State::Ending => self.add_ending(thread),
                State::Join | State::Sleep | State::Free => {}
            }
        }
        waits_for_lock
    }

    /// A thread that waits with others has its place among them by what its key was, until a piece of work has made another one.
    fn key_later(&mut self, thread: ThreadIndex) {
        let Thread { wait_key, wait, .. } = self.threads[thread as usize];
        if wait_key != u64::MAX {
            self.sequence = self.sequence.max(wait_key & SEQUENCE);
        }
        // The first one's record may not be here yet.
        let is_first = self.root_of(thread).is_none_or(|root| *root == thread);
        if !is_first || wait != Links::EMPTY {
            self.unkeyed.set(thread.into());
            let class = self.ready.class(self.ready.urgency(&self.threads, thread));
            self.unsettled.set(thread, class);
            self.add_work(class);
        }
    }

    /// Makes its key, if another scheduler made what it has.
    pub(crate) fn make_key(&mut self, thread: ThreadIndex) {
        if !self.unkeyed.contains(thread.into()) {
            return;
        }
        self.unkeyed.clear(thread.into());
        let Some(mut root) = self.root_of(thread).map(|root| *root) else { return };
        heap::remove::<ByWaitKey>(&mut self.threads, &mut root, thread);
        self.insert_inherited(root, thread);
    }

    /// Puts a thread into the heap in which it waits, as it was among its equals.
    fn insert_inherited(&mut self, mut root: ThreadIndex, thread: ThreadIndex) {
        let Thread { flags, wait_key, .. } = self.threads[thread as usize];
        let key = match flags & THROTTLED {
            0 => self.ready.wait_key(&self.threads, thread, wait_key & SEQUENCE),
            _ => u64::MAX,
        };
        self.threads[thread as usize].wait_key = key;
        heap::insert::<ByWaitKey>(&mut self.threads, &mut root, thread);
        if let Some(place) = self.root_of(thread) {
            *place = root;
        }
    }

    /// What locks lend depends on who waits for them: so these are put into their queues at once, with the urgencies that they have through each other.
    fn inherit_lock_waits(&mut self, first: ThreadIndex, estate: &Estate) {
        let mut thread = first;
        while thread != IDLE {
            self.lend_along_chain(thread);
            thread = self.threads[thread as usize].next;
        }
        thread = first;
        while thread != IDLE {
            let root = self.root_of(thread).map_or(IDLE, |root| *root);
            self.insert_inherited(root, thread);
            thread = self.threads[thread as usize].next;
        }
        for lock in estate.free_locks.iter_clear(1) {
            let Lock { waiters, owner, .. } = self.locks[lock % LOCKS];
            if waiters != IDLE && owner != IDLE {
                self.lend(lock as LockIndex, self.ready.urgency(&self.threads, waiters));
            }
        }
    }

    /// Lends the urgency of a thread that waits for a lock to all owners ahead of it, none of which is in a queue whose order depends on that.
    fn lend_along_chain(&mut self, thread: ThreadIndex) {
        let urgency = self.ready.urgency(&self.threads, thread);
        let mut waiter = thread;
        for _ in 0..=CHAIN_MAXIMUM {
            let Thread { state: State::Lock, object, .. } = self.threads[waiter as usize] else {
                return;
            };
            let owner = self.locks[object as usize % LOCKS].owner;
            if owner == IDLE || self.ready.urgency(&self.threads, owner) <= urgency {
                return;
            }
            self.ready.set_urgency(&mut self.threads, owner, urgency);
            waiter = owner;
        }
    }
}

/// As a whole: mixed with the use of single fields it becomes a copy of each.
#[inline(never)]
fn copy(to: &mut Thread, from: &Thread) {
    *to = *from;
}
