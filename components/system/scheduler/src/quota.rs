//! What a domain may take from the scheduler.

use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::{IDLE, ThreadIndex};

/// Limits of a domain.
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
}

/// A domain: its quota, and what it has of it.
#[derive(Clone, Copy)]
pub(crate) struct Domain {
    pub(crate) quota: Quota,
    pub(crate) threads: u8,
    pub(crate) semaphores: u16,
    pub(crate) locks: u8,
    /// Its first thread, or [`IDLE`].
    pub(crate) first: ThreadIndex,
}

impl Domain {
    pub(crate) const NONE: Domain =
        Domain { quota: Quota::NONE, threads: 0, semaphores: 0, locks: 0, first: IDLE };
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Limits what `domain` may take from now on.
    pub fn set_quota(&mut self, domain: u8, quota: Quota) {
        self.domains[domain as usize].quota = quota;
    }

    /// Threads, semaphores and locks that `domain` has.
    pub fn held(&self, domain: u8) -> [u16; 3] {
        let account = &self.domains[domain as usize];
        [account.threads.into(), account.semaphores, account.locks.into()]
    }

    /// The highest priority that `domain` may give its threads.
    pub fn highest_priority(&self, domain: u8) -> u8 {
        self.domains[domain as usize].quota.priority
    }
}
