//! Locks with priority inheritance: a lock's owner counts as at least as urgent as each thread that
//! waits for the lock, and so does the thread that this owner waits for.
//!
//! The waiters of a lock are a heap, and so are, for each thread, those of its locks for which others wait, by what
//! they lend: the urgency of their first waiter. So what is due to an owner is one look. What changes passes from
//! owner to owner in [pieces](crate::work).
//!
//! A thread holds locks of at most [`SHARES`] instances, and at most [`HELD_OF_INSTANCE`] of one, and it may begin to wait
//! only if at most [`CHAIN_MAXIMUM`] owners, each waiting for the next, are ahead of it. The first is for
//! clients: a callee that returns with its own locks taken leaves them with the thread, which must still get those of
//! others. The second also finds every deadlock: a circle of waiting owners would have to be closed by a
//! thread whose own way ahead was looked at.

use crate::heap::{self, ByWaitKey, Order};
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::Life;
use crate::thread::{IDLE, Links, State, ThreadIndex};
use cairn_abi::semaphore::LOCKS_MAXIMUM;
use cairn_abi::{Error, InstanceId};

/// Most locks; number 0 is none.
pub const LOCKS: usize = LOCKS_MAXIMUM + 1;
/// Most instances of whose locks a thread holds some.
pub const SHARES: usize = 8;
/// Most locks that a thread holds.
pub const HELD_MAXIMUM: usize = SHARES * HELD_OF_INSTANCE;
/// Most locks of one instance that a thread holds.
pub const HELD_OF_INSTANCE: usize = 4;
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
#[repr(align(32))]
pub(crate) struct Lock {
    pub(crate) life: Life,
    /// Root of the heap of waiting threads.
    pub(crate) waiters: ThreadIndex,
    /// The instance that pays for it.
    pub(crate) payer: Tenant,
    /// The thread that holds it; [`IDLE`]: none.
    pub(crate) owner: ThreadIndex,
    /// Neighbours in the list of what the owner holds.
    next_held: LockIndex,
    previous_held: LockIndex,
    /// Which share of the owner's it belongs to.
    share: u8,
    /// Whether it is in the owner's heap, by the urgency that it lends.
    pub(crate) lends: bool,
    links: Links,
    pub(crate) donation: u64,
}

/// The locks of one owner that lend it something, by what they lend.
pub(crate) struct ByDonation;

impl Order for ByDonation {
    type Item = Lock;
    const BITS: u32 = LockIndex::BITS;

    #[inline(always)]
    fn key(lock: &Lock) -> u64 {
        lock.donation
    }
    #[inline(always)]
    fn place(index: u8, _: &Lock) -> u64 {
        u64::from(index) << (u64::BITS - LockIndex::BITS)
    }
    #[inline(always)]
    fn links(lock: &Lock) -> &Links {
        &lock.links
    }
    #[inline(always)]
    fn links_mut(lock: &mut Lock) -> &mut Links {
        &mut lock.links
    }
}

/// Of whose locks a thread holds how many, the one that it waits for included.
// A power of two, so that a thread's are found by one shift, and copied by words.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Shares {
    tenants: [Tenant; SHARES],
    /// Zero: the share is free.
    counts: [u8; SHARES],
    /// That of the lock that it waits for.
    waits: u8,
}

impl Shares {
    pub(crate) const NONE: Shares =
        Shares { tenants: [Tenant::NOBODY; SHARES], counts: [0; SHARES], waits: 0 };

    /// [`Shares::take`] for a thread that holds nothing.
    fn take_first(&mut self, payer: Tenant) -> u8 {
        self.tenants[0] = payer;
        self.counts[0] = 1;
        0
    }

    /// Takes a lock that `payer` pays for into account; which share that is.
    fn take(&mut self, payer: Tenant) -> Result<u8, Error> {
        let mut chosen = SHARES;
        for share in 0..SHARES {
            if self.counts[share] == 0 {
                chosen = share;
            } else if self.tenants[share] == payer {
                chosen = share;
                break;
            }
        }
        match self.counts.get_mut(chosen) {
            Some(count) if usize::from(*count) < HELD_OF_INSTANCE => *count += 1,
            _ => return Err(Error::Exhausted),
        }
        self.tenants[chosen] = payer;
        Ok(chosen as u8)
    }

    fn give_back(&mut self, share: u8) {
        let count = &mut self.counts[share as usize % SHARES];
        *count = count.saturating_sub(1);
    }
}

impl Lock {
    /// The same, for which nobody waits.
    pub(crate) fn without_waiters(self) -> Lock {
        Lock { waiters: IDLE, lends: false, links: Links::EMPTY, donation: 0, ..self }
    }

    pub(crate) const FREE: Lock = Lock {
        life: Life::Free,
        waiters: IDLE,
        payer: Tenant::NOBODY,
        owner: IDLE,
        next_held: NO_LOCK,
        previous_held: NO_LOCK,
        share: 0,
        lends: false,
        links: Links::EMPTY,
        donation: 0,
    };
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Makes a lock that no thread holds; the value is its index.
    pub fn create_lock(&mut self, instance: InstanceId) -> Result<u16, Error> {
        let payer = Tenant::of(instance)?;
        let index = self.free_locks.first().ok_or(Error::Exhausted)?;
        let account = &mut self.accounts[payer];
        if account.locks >= account.quota.locks {
            return Err(Error::Exhausted);
        }
        account.locks += 1;
        self.free_locks.clear(index);
        self.locks[index % LOCKS] = Lock { life: Life::Alive, payer, ..Lock::FREE };
        Ok(index as u16)
    }

    /// Ends a lock of `instance` that no thread holds.
    pub fn free_lock(&mut self, instance: InstanceId, lock: u64) -> Result<(), Error> {
        let payer = Tenant::of(instance)?;
        let index = self.lock_index(lock)?;
        let record = &self.locks[index as usize];
        if record.payer != payer {
            return Err(Error::NotAllowed);
        }
        if record.owner != IDLE {
            return Err(Error::Busy);
        }
        self.drop_lock(index);
        Ok(())
    }

    pub(crate) fn drop_lock(&mut self, index: LockIndex) {
        let payer = self.locks[index as usize].payer;
        self.accounts[payer].locks -= 1;
        self.locks[index as usize] = Lock::FREE;
        self.free_locks.set(index.into());
    }

    /// Takes a lock, or waits for it. [`Error::Busy`]: the thread would wait for itself.
    /// [`Error::Exhausted`]: it holds too many, of this instance or of all, or has too many ahead of it.
    pub fn lock(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        lock: u64,
        now: u64,
    ) -> M::Outcome {
        match self.lock_or_wait(thread, instance, lock) {
            Ok(true) => self.machine.reply(0, 0),
            Ok(false) => {
                self.ready.hold_up(thread, self.policy_time(now));
                self.work_lightly(now);
                self.blocked_at_last(thread, now)
            }
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
        // Two heaps of several are enough for one operation.
        let heavy = self.locks[index as usize].lends && self.is_among_several(index);
        self.forget_held(index);
        self.hand_over(index, 0, now);
        if Q::BUDGETS || heavy {
            self.mark_unsettled(thread);
        } else {
            self.settle(thread);
        }
        self.leave_work(now);
        self.finish(thread, 0, 0, now)
    }

    /// True if `thread` has got it, false if it waits now.
    fn lock_or_wait(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        lock: u64,
    ) -> Result<bool, Error> {
        let index = self.lock_index(lock)?;
        if thread == IDLE {
            return Err(Error::NotAllowed);
        }
        let Lock { owner, payer, .. } = self.locks[index as usize];
        if owner != IDLE {
            self.check_chain(thread, owner)?;
        }
        let share = match self.threads[thread as usize].held {
            NO_LOCK => self.shares[thread as usize].take_first(payer),
            _ => self.shares[thread as usize].take(payer)?,
        };
        if owner == IDLE {
            self.give(index, thread, share);
            return Ok(true);
        }
        self.shares[thread as usize].waits = share;
        self.block(thread, Tenant::calling(instance), State::Lock, index.into());
        let root = self.locks[index as usize].waiters;
        self.set_wait_key(thread, root);
        let root = &mut self.locks[index as usize].waiters;
        heap::insert::<ByWaitKey>(&mut self.threads, root, thread);
        self.mark_stale(index);
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

    fn give(&mut self, lock: LockIndex, thread: ThreadIndex, share: u8) {
        let next = self.threads[thread as usize].held;
        let record = &mut self.locks[lock as usize];
        record.owner = thread;
        record.share = share;
        record.next_held = next;
        record.previous_held = NO_LOCK;
        if next != NO_LOCK {
            self.locks[next as usize].previous_held = lock;
        }
        self.threads[thread as usize].held = lock;
    }

    /// The locks that `thread` holds.
    pub(crate) fn held_by(&self, thread: ThreadIndex) -> impl Iterator<Item = &Lock> {
        let of = |index: LockIndex| (index != NO_LOCK).then(|| &self.locks[index as usize]);
        let first = of(self.threads[thread as usize].held);
        core::iter::successors(first, move |lock| of(lock.next_held)).take(HELD_MAXIMUM)
    }

    /// Takes `lock` out of what its owner holds.
    pub(crate) fn forget_held(&mut self, lock: LockIndex) {
        self.take_back(lock);
        let Lock { owner, next_held, previous_held, share, .. } = self.locks[lock as usize];
        if next_held != NO_LOCK {
            self.locks[next_held as usize].previous_held = previous_held;
        }
        if previous_held != NO_LOCK {
            self.locks[previous_held as usize].next_held = next_held;
        } else {
            self.threads[owner as usize].held = next_held;
        }
        self.shares[owner as usize].give_back(share);
    }

    /// Gives a lock that its owner has left to the first waiter, which goes on with `status`.
    fn hand_over(&mut self, lock: LockIndex, status: i8, now: u64) {
        let root = &mut self.locks[lock as usize].waiters;
        let waiter = *root;
        if waiter == IDLE {
            self.locks[lock as usize].owner = IDLE;
            return;
        }
        heap::remove::<ByWaitKey>(&mut self.threads, root, waiter);
        if Q::BUDGETS {
            let woken = self.ready.woken(self.locks[lock as usize].owner);
            let time = self.policy_time(now);
            self.ready.resume_held_up(&self.threads, waiter, woken, time);
        }
        let share = self.shares[waiter as usize].waits;
        self.give(lock, waiter, share);
        // What the others lend it comes later.
        self.mark_stale(lock);
        self.refresh_urgency(waiter);
        self.let_run(waiter, status);
    }

    /// Hands over one lock of a thread that has ended, in two steps if it is one of several for which others wait.
    pub(crate) fn release_one(&mut self, thread: ThreadIndex, now: u64) {
        let lock = self.threads[thread as usize].held;
        if self.locks[lock as usize].lends && self.is_among_several(lock) {
            return self.take_back(lock);
        }
        self.forget_held(lock);
        self.hand_over(lock, OWNER_ENDED, now);
    }

    /// `thread` no longer waits for `lock`, and has not got it.
    pub(crate) fn leave_lock(&mut self, thread: ThreadIndex, lock: LockIndex) {
        let root = &mut self.locks[lock as usize].waiters;
        heap::remove::<ByWaitKey>(&mut self.threads, root, thread);
        let shares = &mut self.shares[thread as usize];
        shares.give_back(shares.waits);
        // The owner may lose what it inherited.
        self.mark_stale(lock);
        self.refresh_urgency(thread);
    }
}
