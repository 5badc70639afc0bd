//! The interface of components that pass calls on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Passes calls on.
#[cairn::interface]
pub trait Relay {
    /// Holds the call for a while, and answers how many calls the last instance has held.
    fn hold(&self, microseconds: u64) -> Result<u64, Error>;
}
