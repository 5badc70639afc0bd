//! The interface of a component in the kernel domain.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Who is called.
#[cairn::interface]
pub trait Inside {
    /// What [`mixed`] says.
    fn mix(&self, first: u64, second: u64, third: u64) -> Result<(u64, u64, u64), Error>;
    /// Executes so many rounds of nothing.
    fn spin(&self, rounds: u64) -> Result<(), Error>;
    /// Calls itself so many times.
    fn deep(&self, calls: u64) -> Result<u64, Error>;
    /// Panics.
    fn fail(&self) -> Result<(), Error>;
    /// The sum of the bytes, or what it could read of it.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Turns every bit, as far as it can.
    fn turn(&self, bytes: &mut [u8]) -> Result<u64, Error>;
}

/// Words made of three others.
pub const fn mixed(first: u64, second: u64, third: u64) -> (u64, u64, u64) {
    (first.wrapping_add(second), second ^ third, third.wrapping_mul(first | 1))
}
