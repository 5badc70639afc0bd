//! The interfaces of the components that are called in the kernel domain, and call from there.

use cairn::Error;
use cairn::cost::Cost;

/// Takes words, or memory, and returns at once.
#[cairn::interface]
pub trait Inside {
    /// Does nothing with three words.
    fn pass(&self, first: u64, second: u64, third: u64) -> Result<u64, Error>;
    /// What it takes itself in a call of this method, from its entry to where it returns to.
    fn own_cost(&self, method: u64) -> Result<Cost, Error>;
    /// Leaves memory as it is.
    fn leave(&self, bytes: &[u8]) -> Result<u64, Error>;
}

/// The method with three words.
pub const PASS: u64 = 0;
/// The method with memory.
pub const LEAVE: u64 = 2;

/// Calls others from the kernel domain.
#[cairn::interface]
pub trait Within {
    /// What a call of this method of `Inside` costs there and back, the callee's own instructions taken off: to another component
    /// there, or to a domain.
    fn cost(&self, to_domain: u64, method: u64) -> Result<Cost, Error>;
}
