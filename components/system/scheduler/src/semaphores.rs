//! Semaphores. The words, which portal code shares, are in `cairn_abi::semaphore`; here are the
//! slow paths, and what portal code noted. The count of a semaphore that does not exist is `i64::MIN`, so that portal
//! code always comes here with it.

use crate::heap::{self, ByWaitKey};
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, Links, State, ThreadIndex};
use cairn_abi::semaphore::{CLOSED, LEVEL_NEVER, SEMAPHORES_MAXIMUM, level};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

/// Most semaphores.
pub const SEMAPHORES: usize = SEMAPHORES_MAXIMUM;
/// Largest initial value: so many V more can never happen.
pub const INITIAL_MAXIMUM: u64 = i64::MAX as u64 / 2;

/// Whether an object exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(crate) enum Life {
    /// Zero, as everything before the start.
    Free = 0,
    /// The only one below zero, so that the hot paths need no constant.
    Alive = -1,
    /// Its instance died; its waiters are being sent away.
    Dying = 1,
}

impl Life {
    #[inline(always)]
    pub(crate) fn is_alive(self) -> bool {
        (self as i8) < 0
    }

    /// Why an object that is not alive cannot be used.
    pub(crate) fn error(self) -> Error {
        if self == Life::Dying { Error::Dead } else { Error::NotFound }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Semaphore {
    pub(crate) life: Life,
    /// The instance that pays for it.
    pub(crate) payer: Tenant,
    /// The layout's portals name it for good, so it outlives its instance.
    pub(crate) fixed: bool,
}

impl Semaphore {
    pub(crate) const FREE: Semaphore =
        Semaphore { life: Life::Free, payer: Tenant::NOBODY, fixed: false };
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Makes a semaphore; the value is its index.
    pub fn create_semaphore(&mut self, instance: InstanceId, initial: u64) -> Result<u16, Error> {
        let account = &self.accounts[Tenant::of(instance)?];
        if account.semaphores >= account.quota.semaphores {
            return Err(Error::Exhausted);
        }
        let number = self.free_semaphores.first().ok_or(Error::Exhausted)? as u16;
        self.adopt_semaphore(number, instance, initial)?;
        Ok(number)
    }

    /// Makes the semaphore of this index: one that the layout fixed. It need not fit into the instance's
    /// quota, but counts.
    pub fn adopt_semaphore(
        &mut self,
        index: u16,
        instance: InstanceId,
        initial: u64,
    ) -> Result<(), Error> {
        let payer = Tenant::of(instance)?;
        let semaphore = self.semaphores.get_mut(index as usize).ok_or(Error::BadArgument)?;
        if initial > INITIAL_MAXIMUM {
            return Err(Error::BadArgument);
        }
        if semaphore.life != Life::Free {
            return Err(Error::Busy);
        }
        self.accounts[payer].semaphores += 1;
        *semaphore = Semaphore { life: Life::Alive, payer, ..Semaphore::FREE };
        self.free_semaphores.clear(index.into());
        self.set_word(index, initial as i64);
        Ok(())
    }

    /// A semaphore that exists is not freed with its instance's death, which only makes it as it was at first, nor counted
    /// in its quota.
    pub(crate) fn fix_semaphore(&mut self, index: u16) {
        let semaphore = &mut self.semaphores[index as usize % SEMAPHORES];
        if semaphore.life.is_alive() && !semaphore.fixed {
            semaphore.fixed = true;
            let account = &mut self.accounts[semaphore.payer];
            (account.semaphores, account.devices) = (account.semaphores - 1, account.devices + 1);
        }
    }

    /// Ends a semaphore of `instance`. Portals that name it must be revoked before. No thread may wait.
    pub fn free_semaphore(&mut self, instance: InstanceId, semaphore: u64) -> Result<(), Error> {
        let payer = Tenant::of(instance)?;
        let index = self.semaphore(semaphore)?;
        let record = &self.semaphores[index as usize % SEMAPHORES];
        if record.payer != payer || record.fixed {
            return Err(Error::NotAllowed);
        }
        if self.roots[index as usize % SEMAPHORES] != IDLE {
            return Err(Error::Busy);
        }
        self.drop_semaphore(index);
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn set_level(&mut self, semaphore: u16, level: i64) {
        self.machine.semaphore(semaphore)[1].store(level, Relaxed);
    }

    /// Portal code comes here with this semaphore from now on.
    pub(crate) fn close_words(&mut self, index: u16) {
        let [count, level] = CLOSED;
        self.set_word(index, count);
        self.set_level(index, level);
    }

    pub(crate) fn drop_semaphore(&mut self, index: u16) {
        let record = &mut self.semaphores[index as usize % SEMAPHORES];
        let account = &mut self.accounts[record.payer];
        match record.fixed {
            true => account.devices -= 1,
            false => account.semaphores -= 1,
        }
        *record = Semaphore::FREE;
        self.free_semaphores.set(index.into());
        self.close_words(index);
    }

    /// P: takes one, or waits for it.
    #[inline(always)]
    pub fn p(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        semaphore: u64,
        now: u64,
    ) -> M::Outcome {
        // The common case: the thread waits, and none did before, which the word says: it is negative
        // for a semaphore that is not alive. All else is a function of its own, called last, so that no
        // register is saved here.
        let index = semaphore as u16;
        let tenant = Tenant::calling(instance);
        if semaphore >= SEMAPHORES as u64 || thread == IDLE {
            return Self::p_general(semaphore, thread, tenant, now, self);
        }
        let [count, waits] = self.machine.semaphore(index);
        if count.load(Relaxed) != 0 {
            return Self::p_general(semaphore, thread, tenant, now, self);
        }
        count.store(-1, Relaxed);
        let class = self.ready.class(self.ready.urgency(&self.threads, thread));
        waits.store(level(class.into()), Relaxed);
        self.roots[index as usize % SEMAPHORES] = thread;
        let lower = self.block(thread, tenant, State::Semaphore, index);
        // It is alone in the heap already, and gets its key when another thread joins it there.
        debug_assert_eq!(self.threads[thread as usize].wait, Links::EMPTY);
        if lower {
            return Self::p_lower(semaphore, thread, tenant, now, self);
        }
        let first = self.ready.first();
        self.switch(thread, first, now)
    }

    #[inline(never)]
    fn p_lower(
        _semaphore: u64,
        thread: ThreadIndex,
        _tenant: Tenant,
        now: u64,
        scheduler: &mut Self,
    ) -> M::Outcome {
        scheduler.blocked(thread, now)
    }

    #[inline(never)]
    fn p_general(
        semaphore: u64,
        thread: ThreadIndex,
        tenant: Tenant,
        now: u64,
        scheduler: &mut Self,
    ) -> M::Outcome {
        match scheduler.p_or_wait(thread, tenant, semaphore) {
            Ok(true) => scheduler.machine.reply(0, 0),
            Ok(false) => scheduler.blocked_at_last(thread, now),
            Err(error) => scheduler.refuse(error),
        }
    }

    /// P that ends with [`Error::TimedOut`] when the time is `deadline`.
    pub fn timed_p(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        semaphore: u64,
        deadline: u64,
        now: u64,
    ) -> M::Outcome {
        if deadline <= self.machine.time(now) {
            return match self.try_p(semaphore) {
                Err(Error::WouldBlock) => self.refuse(Error::TimedOut),
                Err(error) => self.refuse(error),
                Ok(()) => self.machine.reply(0, 0),
            };
        }
        match self.p_or_wait(thread, Tenant::calling(instance), semaphore) {
            Ok(true) => self.machine.reply(0, 0),
            Ok(false) => {
                self.limit(thread, deadline);
                self.blocked_at_last(thread, now)
            }
            Err(error) => self.refuse(error),
        }
    }

    /// P that does not wait.
    pub fn try_p(&mut self, semaphore: u64) -> Result<(), Error> {
        let index = self.semaphore(semaphore)?;
        let word = self.word(index);
        if word <= 0 {
            return Err(Error::WouldBlock);
        }
        self.set_word(index, word - 1);
        Ok(())
    }

    /// V: gives one, to the first waiter if there is one.
    #[inline(always)]
    pub fn v(&mut self, thread: ThreadIndex, semaphore: u64, now: u64) -> M::Outcome {
        // The common case: one thread waits, which the word says, and has no time limit.
        let index = semaphore as u16;
        if semaphore >= SEMAPHORES as u64 || self.word(index) != -1 {
            return Self::v_general(semaphore, thread, now, self);
        }
        let waiter = self.roots[index as usize % SEMAPHORES];
        let record = &self.threads[waiter as usize];
        if record.flags != 0 {
            // It is this semaphore that it waits for.
            return Self::v_general(record.object.into(), thread, now, self);
        }
        self.roots[index as usize % SEMAPHORES] = IDLE;
        self.set_word(index, 0);
        self.note_release(waiter, self.policy_time(now));
        self.threads[waiter as usize].state = State::Ready;
        if self.ready.insert(&mut self.threads, waiter) {
            // Its result goes straight to it.
            self.set_result(thread, 0, 0);
            return self.switch_with(thread, waiter, 0, 0, now);
        }
        self.set_result(waiter, 0, 0);
        Self::v_in_vain(semaphore, thread, now, self)
    }

    /// Portal code could have noted this, if it had known: the next one it can.
    #[inline(never)]
    fn v_in_vain(
        _semaphore: u64,
        _thread: ThreadIndex,
        now: u64,
        scheduler: &mut Self,
    ) -> M::Outcome {
        scheduler.renew_threshold();
        scheduler.go_on(0, 0, now)
    }

    #[inline(never)]
    fn v_general(
        semaphore: u64,
        thread: ThreadIndex,
        now: u64,
        scheduler: &mut Self,
    ) -> M::Outcome {
        match scheduler.signal(semaphore, now) {
            Ok(()) => scheduler.finish(thread, 0, 0, now),
            Err(error) => scheduler.refuse(error),
        }
    }

    /// The index of a semaphore that exists.
    #[inline(always)]
    fn alive(&self, semaphore: u64) -> Option<u16> {
        if semaphore < SEMAPHORES as u64
            && self.semaphores[semaphore as usize % SEMAPHORES].life.is_alive()
        {
            Some(semaphore as u16)
        } else {
            None
        }
    }

    /// The index of a semaphore that exists, or why it cannot be used.
    pub(crate) fn semaphore(&self, semaphore: u64) -> Result<u16, Error> {
        if let Some(index) = self.alive(semaphore) {
            return Ok(index);
        }
        let record = self.semaphores.get(semaphore as usize).ok_or(Error::BadArgument)?;
        Err(record.life.error())
    }

    /// True if `thread` got one, false if it waits now.
    pub(crate) fn p_or_wait(
        &mut self,
        thread: ThreadIndex,
        tenant: Tenant,
        semaphore: u64,
    ) -> Result<bool, Error> {
        let index = self.semaphore(semaphore)?;
        let word = self.word(index);
        if word <= 0 && thread == IDLE {
            return Err(Error::NotAllowed);
        }
        self.set_word(index, word - 1);
        if word > 0 {
            return Ok(true);
        }
        self.block(thread, tenant, State::Semaphore, index);
        self.set_level(index, LEVEL_NEVER);
        let root = self.roots[index as usize % SEMAPHORES];
        self.set_wait_key(thread, root);
        let root = &mut self.roots[index as usize % SEMAPHORES];
        heap::insert::<ByWaitKey>(&mut self.threads, root, thread);
        Ok(false)
    }

    /// V without a decision which thread runs.
    pub(crate) fn signal(&mut self, semaphore: u64, now: u64) -> Result<(), Error> {
        let index = self.semaphore(semaphore)?;
        let word = self.word(index);
        self.set_word(index, word.wrapping_add(1));
        let root = &mut self.roots[index as usize % SEMAPHORES];
        let waiter = *root;
        if waiter != IDLE {
            heap::remove::<ByWaitKey>(&mut self.threads, root, waiter);
            self.wake(waiter, 0, self.policy_time(now));
        }
        Ok(())
    }
}
