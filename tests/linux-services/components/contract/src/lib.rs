//! What the judge and a program of Linux' serve to each other.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Methods of all forms.
#[cairn::interface]
pub trait Mixed {
    /// Writes the sum of each two bytes; the value is the sum of the left ones, of the right ones, and how many there were before of `sums`
    /// that are not zero.
    fn mix(&self, left: &[u8], sums: &mut [u8], right: &[u8]) -> Result<(u64, u64, u64), Error>;
    /// Takes so long.
    fn stay(&self, microseconds: u64) -> Result<u64, Error>;
}
