//! What the components of the test of endless waits agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Waits in a neighbour for ever, in its main function and for whoever asks.
#[cairn::interface]
pub trait Waiter {
    /// Waits as the main function does.
    fn wait(&self) -> Result<u64, Error>;
    /// How many threads have begun to wait since the start.
    fn waiting(&self) -> Result<u64, Error>;
    /// How often the component was started before.
    fn generation(&self) -> Result<u64, Error>;
}

/// Keeps whoever calls it.
#[cairn::interface]
pub trait Keeper {
    /// Takes a lock and waits for a semaphore that nobody raises; gives the lock back if that ends.
    fn keep(&self) -> Result<u64, Error>;
    /// The sum of the bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Writes a byte everywhere.
    fn fill(&self, bytes: &mut [u8], byte: u8) -> Result<(), Error>;
    /// How many waits have ended, with the lock given back.
    fn ended(&self) -> Result<u64, Error>;
    /// As `keep`, with a window open.
    fn hold(&self, bytes: &[u8]) -> Result<u64, Error>;
}

/// Returns from its main function.
#[cairn::interface]
pub trait Returner {
    /// How often the component was started before, and when it was started last, in ticks, in the upper
    /// 48 bits.
    fn started(&self) -> Result<u64, Error>;
}
