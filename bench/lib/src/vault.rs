//! The interface of a component whose locks its callers leave taken.

use cairn::Error;

/// Locks of one domain, by their numbers.
#[cairn::interface]
pub trait Vault {
    /// Makes the locks; then its own threads wait for them as soon as [`Vault::fill`] is called.
    fn prepare(&self) -> Result<(), Error>;
    /// Takes a lock, and returns with it.
    fn take(&self, lock: u64) -> Result<(), Error>;
    /// Gives a lock back.
    fn give(&self, lock: u64) -> Result<(), Error>;
    /// Starts a thread for each lock, which takes it.
    fn fill(&self) -> Result<(), Error>;
}

/// Locks of a vault.
pub const VAULT_LOCKS: usize = 32;
