//! Which instances there are: what is said of a new one, by the layout or by what loads it, and its end for good.

use crate::machine::Machine;
use crate::quota::{Account, Quota, Tenant};
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
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
        Ok(())
    }

    /// A device's semaphore is made for an instance, beside its quota. It stays as long as the instance is there: its death
    /// only makes it as it was at first.
    pub fn add_device(&mut self, instance: InstanceId, semaphore: u16) -> Result<(), Error> {
        self.adopt_semaphore(semaphore, instance, 0)?;
        self.fix_semaphore(semaphore);
        Ok(())
    }

    /// An instance is no more. From the first call on it can take nothing, and [`Scheduler::reclaim`] takes its devices'
    /// semaphores too. [`Error::Busy`]: its threads are to be ended, it is to be reclaimed, and this called again.
    pub fn retire_domain(&mut self, instance: InstanceId) -> Result<(), Error> {
        let tenant = Tenant::of(instance)?;
        let account = &mut self.accounts[tenant];
        (account.present, account.quota) = (false, Quota::NONE);
        if account.threads != 0
            || account.semaphores != 0
            || account.locks != 0
            || account.devices != 0
        {
            return Err(Error::Busy);
        }
        debug_assert!(account.first == IDLE, "its first thread has ended");
        *account = Account::NONE;
        self.returned.clear(instance.index());
        Ok(())
    }
}
