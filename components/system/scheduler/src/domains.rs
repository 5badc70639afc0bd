//! Which instances there are: what is said of a new one, by the layout or by what loads it, and its end for good.

use crate::machine::Machine;
use crate::quota::{Account, Quota, Tenant};
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::semaphores::SEMAPHORES;
use crate::thread::IDLE;
use cairn_abi::{Error, InstanceId};

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// There is a new instance, which may take so much. [`Error::Busy`]: one of this number is still there.
    pub fn add_domain(&mut self, instance: InstanceId, quota: Quota) -> Result<(), Error> {
        let account = &mut self.accounts[Tenant::of(instance)?];
        if *account != Account::NONE {
            return Err(Error::Busy);
        }
        *account = Account { quota, present: true, ..Account::NONE };
        self.present.set(instance.index());
        Ok(())
    }

    /// The same for one that has its quota from another's, its parent's. [`Error::Exhausted`]: that has not so much that it does not use;
    /// [`Error::NotAllowed`]: nor this priority.
    pub fn add_child(
        &mut self,
        instance: InstanceId,
        parent: InstanceId,
        quota: Quota,
    ) -> Result<(), Error> {
        let from = Tenant::of(parent)?;
        let account = &self.accounts[from];
        if !account.present || parent == instance || parent.index() == 0 {
            return Err(Error::BadArgument);
        }
        if quota.priority > account.quota.priority {
            return Err(Error::NotAllowed);
        }
        let left = account.left_without(quota).ok_or(Error::Exhausted)?;
        self.add_domain(instance, quota)?;
        self.accounts[from].quota = left;
        Ok(())
    }

    /// An instance that had its quota from a parent is no more. Its own children are none any more either.
    pub fn retire_child(&mut self, instance: InstanceId, parent: InstanceId) -> Result<(), Error> {
        let (own, from) = (Tenant::of(instance)?, Tenant::of(parent)?);
        let quota = self.accounts[own].quota;
        self.retire_domain(instance)?;
        if parent.index() != 0 && self.accounts[from].present {
            self.accounts[from].quota.give_back(quota);
        }
        Ok(())
    }

    /// A device's semaphore is made for an instance, beside its quota. It stays until [`Scheduler::remove_device`]: its
    /// instance's death only makes it as it was at first.
    pub fn add_device(&mut self, instance: InstanceId, semaphore: u16) -> Result<(), Error> {
        self.adopt_semaphore(semaphore, instance, 0)?;
        self.fix_semaphore(semaphore);
        Ok(())
    }

    /// The semaphore of a device of an instance that retires is free. [`Error::Busy`]: its threads are to be ended first, and
    /// the waits for it.
    pub fn remove_device(&mut self, instance: InstanceId, semaphore: u16) -> Result<(), Error> {
        let tenant = Tenant::of(instance)?;
        let index = self.semaphore(semaphore.into())?;
        let record = &self.semaphores[index as usize % SEMAPHORES];
        if record.payer != tenant || !record.fixed {
            return Err(Error::NotAllowed);
        }
        if self.accounts[tenant].threads != 0 || self.roots[index as usize % SEMAPHORES] != IDLE {
            return Err(Error::Busy);
        }
        self.drop_semaphore(index);
        Ok(())
    }

    /// An instance is no more. [`Error::Busy`], and nothing is changed: its threads are to be ended, it is to be reclaimed
    /// and its devices are to be removed first.
    pub fn retire_domain(&mut self, instance: InstanceId) -> Result<(), Error> {
        let tenant = Tenant::of(instance)?;
        let account = &self.accounts[tenant];
        if account.threads != 0
            || account.semaphores != 0
            || account.locks != 0
            || account.devices != 0
        {
            return Err(Error::Busy);
        }
        debug_assert!(account.first == IDLE, "its first thread has ended");
        self.drop_budget(tenant);
        self.accounts[tenant] = Account::NONE;
        self.present.clear(instance.index());
        self.returned.clear(instance.index());
        Ok(())
    }
}
