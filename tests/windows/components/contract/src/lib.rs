//! What is asked of who gets pages in windows of all kinds.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error, InstanceId};
use cairn_interfaces::Torn;

#[cairn::interface]
pub trait Keeper {
    /// Which instance it is.
    fn number(&self) -> Result<InstanceId, Error>;
    /// Keeps pages that its caller tore off; the sum of their words. A write that tears off.
    fn put(&self, caller: Caller, pages: Torn) -> Result<u64, Error>;
    /// Tears off what it keeps, for its caller. A read that tears off.
    fn get(&self, caller: Caller) -> Result<Torn, Error>;
    /// Takes pages that another instance tore off.
    fn take(&self, pages: Torn, from: InstanceId) -> Result<u64, Error>;
    /// Joins a lasting window of its caller's.
    fn join(&self, caller: Caller, window: u64, writable: bool) -> Result<(), Error>;
    /// Closes a window, whoever's.
    fn close(&self, window: u64) -> Result<(), Error>;
    /// Leaves the window that it joined.
    fn leave(&self) -> Result<(), Error>;
    /// Writes a word there; what was there before.
    fn swap(&self, at: u64, word: u64) -> Result<u64, Error>;
    /// Whether two buffers are one page: what it writes in one, it finds in the other.
    fn same(&self, one: &mut [u8], other: &mut [u8]) -> Result<bool, Error>;
}
