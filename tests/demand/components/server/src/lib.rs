//! The interface of a component that is started by its first call.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Who is called now and then.
#[cairn::interface]
pub trait Rare {
    /// How often its main function began in this life, and how often this was called.
    fn count(&self) -> Result<(u64, u64), Error>;
    /// The sum of the bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Stays inside for so many microseconds.
    fn stay(&self, microseconds: u64) -> Result<(), Error>;
    /// Takes a page, and keeps it.
    fn take_page(&self) -> Result<u64, Error>;
    /// It panics.
    fn fail(&self) -> Result<(), Error>;
}
