//! What an instance may take from the scheduler.

use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, ThreadIndex};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::ops::{Index, IndexMut};

/// Limits of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Most threads that began in it.
    pub threads: u8,
    /// Most semaphores.
    pub semaphores: u16,
    /// Most locks.
    pub locks: u8,
    /// Highest priority of its threads.
    pub priority: u8,
}

impl Quota {
    /// Nothing at all.
    pub const NONE: Quota = Quota { threads: 0, semaphores: 0, locks: 0, priority: 0 };

    /// A part of it that another had is here again.
    pub(crate) fn give_back(&mut self, part: Quota) {
        self.threads = self.threads.saturating_add(part.threads);
        self.semaphores = self.semaphores.saturating_add(part.semaphores);
        self.locks = self.locks.saturating_add(part.locks);
    }
}

/// An instance as it is kept here: its number is that of an account, and takes the least room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tenant(TenantNumber);

type TenantNumber = u8;
// More instances need a longer number.
const _: () = assert!(INSTANCES_MAXIMUM <= 1 << TenantNumber::BITS);

impl Tenant {
    /// Instance 0, which is no instance.
    pub(crate) const NOBODY: Tenant = Tenant(0);

    /// [`Error::BadArgument`]: there is no account of this number.
    pub(crate) fn of(instance: InstanceId) -> Result<Tenant, Error> {
        if instance.index() >= INSTANCES_MAXIMUM {
            return Err(Error::BadArgument);
        }
        Ok(Tenant(instance.0 as TenantNumber))
    }

    /// An instance that calls: the portal vouches that there is such an instance, so no call pays for a check.
    #[inline(always)]
    pub(crate) fn calling(instance: InstanceId) -> Tenant {
        Tenant(instance.0 as TenantNumber)
    }

    pub(crate) fn instance(self) -> InstanceId {
        InstanceId(self.0.into())
    }
}

/// The quota of an instance, and what it has of it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(16))]
pub(crate) struct Account {
    pub(crate) quota: Quota,
    pub(crate) threads: u8,
    pub(crate) semaphores: u16,
    pub(crate) locks: u8,
    /// Its first thread, or [`IDLE`].
    pub(crate) first: ThreadIndex,
    /// Semaphores of its devices, beside the quota.
    pub(crate) devices: u16,
    /// There is such an instance.
    pub(crate) present: bool,
    /// The place of its processor budget and 1; zero: it has none.
    pub(crate) budget: u8,
}
const _: () = assert!(size_of::<Account>() == 16);

impl Account {
    /// That of no instance.
    pub(crate) const NONE: Account = Account {
        quota: Quota::NONE,
        threads: 0,
        semaphores: 0,
        locks: 0,
        first: IDLE,
        devices: 0,
        present: false,
        budget: 0,
    };

    /// What is left of the quota without a part that it does not use; none: it uses too much.
    pub(crate) fn left_without(&self, part: Quota) -> Option<Quota> {
        let Quota { threads, semaphores, locks, priority } = self.quota;
        let left = Quota {
            threads: threads.checked_sub(part.threads)?,
            semaphores: semaphores.checked_sub(part.semaphores)?,
            locks: locks.checked_sub(part.locks)?,
            priority,
        };
        let has = (self.threads, self.semaphores, self.locks);
        let fits = has.0 <= left.threads && has.1 <= left.semaphores && has.2 <= left.locks;
        fits.then_some(left)
    }
}

/// The accounts of all instances.
pub(crate) struct Accounts([Account; INSTANCES_MAXIMUM]);

impl Accounts {
    pub(crate) const NONE: Accounts = Accounts([Account::NONE; INSTANCES_MAXIMUM]);
}

impl Index<Tenant> for Accounts {
    type Output = Account;

    #[inline(always)]
    fn index(&self, tenant: Tenant) -> &Account {
        &self.0[tenant.0 as usize % INSTANCES_MAXIMUM]
    }
}

impl IndexMut<Tenant> for Accounts {
    #[inline(always)]
    fn index_mut(&mut self, tenant: Tenant) -> &mut Account {
        &mut self.0[tenant.0 as usize % INSTANCES_MAXIMUM]
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Threads, semaphores and locks that `instance` has.
    pub fn held(&self, instance: InstanceId) -> Result<[u16; 3], Error> {
        let account = &self.accounts[Tenant::of(instance)?];
        Ok([account.threads.into(), account.semaphores, account.locks.into()])
    }

    /// The highest priority that `instance`, which calls, may give its threads.
    pub fn highest_priority(&self, instance: InstanceId) -> u8 {
        self.accounts[Tenant::calling(instance)].quota.priority
    }
}
