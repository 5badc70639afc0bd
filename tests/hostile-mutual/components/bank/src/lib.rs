//! What hostile servers and their clients agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// Gives things.
#[cairn::interface]
pub trait Bank {
    /// A thing; what else the server does meanwhile is its own affair.
    fn give(&self, place: Place, how: u64) -> Result<Object<dyn Thing>, Error>;
    /// Anything but giving.
    fn poke(&self, how: u64, word: u64) -> Result<u64, Error>;
}

/// A thing: words in, a word out.
#[cairn::interface]
pub trait Thing {
    /// The sum.
    fn pair(&self, left: u64, right: u64) -> Result<u64, Error>;
    /// Stays for so many ticks.
    fn rest(&self, ticks: u64) -> Result<(), Error>;
}

/// What a server would like to have in the place of a thing: the first word would be an address to write at.
#[cairn::interface]
pub trait Writer {
    /// Writes.
    fn pair(&self, bytes: &mut [u8]) -> Result<u64, Error>;
    /// As that of a thing.
    fn rest(&self, ticks: u64) -> Result<(), Error>;
}
