//! The interface of a guest that takes what it can get.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, InstanceId};

/// The first word of all that a guest takes.
pub const MARK: u64 = 9;

/// A guest.
#[cairn::interface]
pub trait Taker {
    /// Gets pages; their address.
    fn allocate(&self) -> Result<u64, Error>;
    /// Makes a section of one page, for another to map as well; its address.
    fn make(&self, with: InstanceId) -> Result<u64, Error>;
    /// Maps a section.
    fn accept(&self, section: u64) -> Result<(), Error>;
    /// Its first word.
    fn first(&self, section: u64) -> Result<u64, Error>;
    /// Unmaps it.
    fn leave(&self, section: u64) -> Result<(), Error>;
    /// The sum of bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Is at fault.
    fn fail(&self) -> Result<(), Error>;
}
