//! Locks with priority inheritance: a lock's owner counts as at least as urgent as each thread that
//! waits for the lock, and so does whoever that owner waits for.
//!
//! Three constants bound the work: a thread holds at most [`HELD_MAXIMUM`] locks, of one domain's at most
//! [`HELD_OF_DOMAIN`], and a thread may begin to wait only if at most [`CHAIN_MAXIMUM`] owners, each
//! waiting for the next, are ahead of it. The second is for clients: a callee that returns with its own
//! locks taken leaves them with the thread, which must still get those of others. The third also finds
//! every deadlock: a circle of waiting owners would have to be closed by a thread whose own way ahead was
//! looked at.

use crate::heap::{self, ByWaitKey};
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::Life;
use crate::thread::{IDLE, State, ThreadIndex};
use cairn_abi::Error;
use cairn_abi::semaphore::LOCKS_MAXIMUM;

/// Most locks; number 0 is none.
pub const LOCKS: usize = LOCKS_MAXIMUM + 1;
/// Most locks that a thread holds: eight domains' shares.
pub const HELD_MAXIMUM: usize = 8 * HELD_OF_DOMAIN;
/// Most locks of one domain that a thread holds.
pub const HELD_OF_DOMAIN: usize = 4;
/// Most owners ahead of a thread that begins to wait for a lock.
pub const CHAIN_MAXIMUM: usize = 8;
/// Status of a `lock` that succeeded, but the last owner ended while it held the lock: what the lock
/// protects may be half done.
pub const OWNER_ENDED: i8 = 1;

/// Number of a lock.
pub(crate) type LockIndex = u8;
const NO_LOCK: LockIndex = 0;
const _: () = assert!(LOCKS == 1 << LockIndex::BITS);

#[derive(Clone, Copy)]
pub(crate) struct Lock {
    pub(crate) life: Life,
    /// Root of the heap of waiting threads.
    pub(crate) waiters: ThreadIndex,
    /// Who pays for it.
    pub(crate) domain: u8,
    /// Who holds it; [`IDLE`]: nobody.
    pub(crate) owner: ThreadIndex,
    /// The next lock that the owner holds.
    next_held: LockIndex,
}

impl Lock {
    pub(crate) const FREE: Lock =
        Lock { life: Life::Free, waiters: IDLE, domain: 0, owner: IDLE, next_held: NO_LOCK };
    /// Before the scheduler's start.
    pub(crate) const ZERO: Lock = Lock { life: Life::Alive, ..Lock::FREE };
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Makes a lock that nobody holds; the value is its index.
    pub fn create_lock(&mut self, domain: u8) -> Result<u16, Error> {
        let index = self.free_locks.first().ok_or(Error::Exhausted)?;
        let account = &mut self.domains[domain as usize];
        if account.locks >= account.quota.locks {
            return Err(Error::Exhausted);
        }
        account.locks += 1;
        self.free_locks.clear(index);
        self.locks[index % LOCKS] = Lock { life: Life::Alive, domain, ..Lock::FREE };
        Ok(index as u16)
    }

    /// Ends a lock of `domain` that nobody holds.
    pub fn free_lock(&mut self, domain: u8, lock: u64) -> Result<(), Error> {
        let index = self.lock_index(lock)?;
        let record = &self.locks[index as usize];
        if record.domain != domain {
            return Err(Error::NotAllowed);
        }
        if record.owner != IDLE {
            return Err(Error::Busy);
        }
        self.drop_lock(index);
        Ok(())
    }

    pub(crate) fn drop_lock(&mut self, index: LockIndex) {
        let domain = self.locks[index as usize].domain;
        self.domains[domain as usize].locks -= 1;
        self.locks[index as usize] = Lock::FREE;
        self.free_locks.set(index.into());
    }

    /// Takes a lock, or waits for it. [`Error::Busy`]: the thread would wait for itself.
    /// [`Error::Exhausted`]: it holds too many, of this domain or of all, or has too many ahead of it.
    pub fn lock(&mut self, thread: ThreadIndex, domain: u8, lock: u64, now: u64) -> M::Outcome {
        match self.lock_or_wait(thread, domain, lock) {
            Ok(true) => self.machine.reply(0, 0),
            Ok(false) => self.blocked(thread, now),
            Err(error) => self.refuse(error),
        }
    }

    /// Gives a lock back that `thread` holds: to the first waiter if there is one.
    pub fn unlock(&mut self, thread: ThreadIndex, lock: u64, now: u64) -> M::Outcome {
        let index = match self.lock_index(lock) {
            Ok(index) => index,
            Err(error) => return self.refuse(error),
        };
        if thread == IDLE || self.locks[index as usize].owner != thread {
            return self.refuse(Error::NotAllowed);
        }
        self.forget_held(index);
        self.hand_over(index, 0);
        self.settle(thread, true);
        self.finish(thread, 0, 0, now)
    }

    /// True if `thread` has got it, false if it waits now.
    fn lock_or_wait(&mut self, thread: ThreadIndex, domain: u8, lock: u64) -> Result<bool, Error> {
        let index = self.lock_index(lock)?;
        if thread == IDLE {
            return Err(Error::NotAllowed);
        }
        self.check_held(thread, self.locks[index as usize].domain)?;
        let owner = self.locks[index as usize].owner;
        if owner == IDLE {
            self.give(index, thread);
            return Ok(true);
        }
        self.check_chain(thread, owner)?;
        self.block(thread, domain, State::Lock, index.into());
        let root = self.locks[index as usize].waiters;
        self.set_wait_key(thread, root);
        let root = &mut self.locks[index as usize].waiters;
        heap::insert::<ByWaitKey>(&mut self.threads, root, thread);
        self.settle(owner, false);
        Ok(false)
    }

    fn lock_index(&self, lock: u64) -> Result<LockIndex, Error> {
        if lock >= LOCKS as u64 {
            return Err(Error::BadArgument);
        }
        match self.locks[lock as usize % LOCKS].life {
            Life::Alive => Ok(lock as LockIndex),
            life => Err(life.error()),
        }
    }

    /// Follows the owners that wait for each other, from `owner` on.
    fn check_chain(&self, thread: ThreadIndex, mut owner: ThreadIndex) -> Result<(), Error> {
        for _ in 0..CHAIN_MAXIMUM {
            if owner == thread {
                return Err(Error::Busy);
            }
            let record = &self.threads[owner as usize];
            if record.state != State::Lock {
                return Ok(());
            }
            owner = self.locks[record.object as usize % LOCKS].owner;
        }
        Err(Error::Exhausted)
    }

    /// Whether `thread` may hold one more lock of `domain`.
    fn check_held(&self, thread: ThreadIndex, domain: u8) -> Result<(), Error> {
        let mut of_domain = 0;
        let mut lock = self.threads[thread as usize].held;
        for _ in 0..HELD_MAXIMUM {
            if lock == NO_LOCK {
                return Ok(());
            }
            let record = &self.locks[lock as usize];
            of_domain += usize::from(record.domain == domain);
            if of_domain == HELD_OF_DOMAIN {
                break;
            }
            lock = record.next_held;
        }
        Err(Error::Exhausted)
    }

    fn give(&mut self, lock: LockIndex, thread: ThreadIndex) {
        let record = &mut self.locks[lock as usize];
        record.owner = thread;
        record.next_held = self.threads[thread as usize].held;
        self.threads[thread as usize].held = lock;
    }

    /// Takes `lock` out of what its owner holds.
    pub(crate) fn forget_held(&mut self, lock: LockIndex) {
        let Lock { owner, next_held, .. } = self.locks[lock as usize];
        let mut place = self.threads[owner as usize].held;
        if place == lock {
            self.threads[owner as usize].held = next_held;
            return;
        }
        for _ in 0..HELD_MAXIMUM {
            let next = self.locks[place as usize].next_held;
            if next == lock {
                self.locks[place as usize].next_held = next_held;
                return;
            }
            place = next;
        }
    }

    /// Gives a lock that its owner has left to the first waiter, which goes on with `status`. All
    /// others wait for it with less urgency, so it inherits nothing.
    fn hand_over(&mut self, lock: LockIndex, status: i8) {
        let root = &mut self.locks[lock as usize].waiters;
        let waiter = *root;
        if waiter == IDLE {
            self.locks[lock as usize].owner = IDLE;
            return;
        }
        heap::remove::<ByWaitKey>(&mut self.threads, root, waiter);
        self.give(lock, waiter);
        self.let_run(waiter, status);
    }

    /// `thread` ends: hands its locks over.
    pub(crate) fn release_held(&mut self, thread: ThreadIndex) {
        for _ in 0..HELD_MAXIMUM {
            let lock = self.threads[thread as usize].held;
            if lock == NO_LOCK {
                return;
            }
            self.threads[thread as usize].held = self.locks[lock as usize].next_held;
            self.hand_over(lock, OWNER_ENDED);
        }
    }

    /// The urgency that should count for `thread`: the best of its own and its waiters'.
    fn due_urgency(&self, thread: ThreadIndex) -> u64 {
        let mut urgency = self.ready.own_urgency(&self.threads, thread);
        let mut lock = self.threads[thread as usize].held;
        for _ in 0..HELD_MAXIMUM {
            if lock == NO_LOCK {
                break;
            }
            let Lock { waiters, next_held, .. } = self.locks[lock as usize];
            if waiters != IDLE {
                urgency = urgency.min(self.ready.urgency(&self.threads, waiters));
            }
            lock = next_held;
        }
        urgency
    }

    /// Brings the urgency of `thread`, and of the owners that it waits for, up to date. `front`: a
    /// thread whose urgency changes goes before its new equals.
    pub(crate) fn settle(&mut self, mut thread: ThreadIndex, front: bool) {
        for _ in 0..=CHAIN_MAXIMUM {
            if thread == IDLE {
                return;
            }
            let urgency = self.due_urgency(thread);
            if urgency == self.ready.urgency(&self.threads, thread) {
                return;
            }
            self.set_urgency(thread, urgency, front);
            let record = &self.threads[thread as usize];
            if record.state != State::Lock {
                return;
            }
            thread = self.locks[record.object as usize % LOCKS].owner;
        }
    }

    /// Brings the urgency of a thread that is in no queue up to date.
    pub(crate) fn refresh_urgency(&mut self, thread: ThreadIndex) {
        let urgency = self.due_urgency(thread);
        self.ready.set_urgency(&mut self.threads, thread, urgency);
    }
}
