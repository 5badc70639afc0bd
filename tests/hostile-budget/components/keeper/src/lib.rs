//! The interface of a server with a lock.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// One caller at a time works in it.
#[cairn::interface]
pub trait Keeper {
    /// Works for so many microseconds with the lock; how often that was done.
    fn work(&self, microseconds: u64) -> Result<u64, Error>;
}
