//! The interface of a component that calls others of its kind.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Who calls and is called.
#[cairn::interface]
pub trait Link {
    /// Calls others `depth` times, one in the other, as `path` says; how often it was.
    fn down(&self, depth: u64, path: u64) -> Result<u64, Error>;
    /// The same with memory, of which each writes a byte.
    fn pass(&self, depth: u64, path: u64, bytes: &mut [u8]) -> Result<u64, Error>;
}
