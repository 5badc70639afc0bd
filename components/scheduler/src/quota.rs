//! What a domain may take from the scheduler.

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
