//! What eight copies of copies call.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error};

/// A server at the end of eight.
#[cairn::interface]
pub trait Ledger {
    /// The instance that calls.
    fn who(&self, caller: Caller) -> Result<u64, Error>;
    /// The sum of the first bytes, and each byte's place in the others.
    fn exchange(&self, first: &[u8], others: &mut [u8]) -> Result<u64, Error>;
    /// The last copy has done what it was made for.
    fn done(&self) -> Result<(), Error>;
    /// Waits for that.
    fn wait(&self) -> Result<(), Error>;
}
