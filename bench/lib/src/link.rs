//! The interface of the domains in a chain of calls.

use cairn::Error;
use cairn::cost::Cost;

/// A domain in a chain.
#[cairn::interface]
pub trait Link {
    /// Passes the call on to the portal `next` of the next domain, with the same arguments; the last
    /// domain returns at once.
    fn pass(&self, next: u64, second: u64, third: u64) -> Result<u64, Error>;
    /// Passes the call on with a page of its own in a window; the last domain returns at once.
    fn leave(&self, buffer: &mut [u8], next: u64) -> Result<(), Error>;
    /// The same, but writes the first byte of the window that it got.
    fn touch(&self, buffer: &mut [u8], next: u64) -> Result<(), Error>;
    /// What this domain itself takes in a call of method `method` (0: `pass`...), from its entry to the
    /// `ecall` that returns.
    fn own_cost(&self, method: u64) -> Result<Cost, Error>;
}

/// Numbers of the methods: the distance of their portals from the first.
pub mod method {
    /// [`super::Link::pass`].
    pub const PASS: u32 = 0;
    /// [`super::Link::leave`].
    pub const LEAVE: u32 = 1;
    /// [`super::Link::touch`].
    pub const TOUCH: u32 = 2;
}
