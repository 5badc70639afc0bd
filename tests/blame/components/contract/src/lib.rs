//! What the components of this test agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// The server, whose export declares how long a call takes at most.
#[cairn::interface]
pub trait Work {
    /// Makes the lock and publishes it.
    fn prepare(&self) -> Result<(), Error>;
    /// Takes the lock; how many calls this life of the server has done.
    fn work(&self) -> Result<u64, Error>;
}

/// The one that has the lock.
#[cairn::interface]
pub trait Hold {
    /// Takes the lock in its own thread, from now on.
    fn begin(&self) -> Result<(), Error>;
    /// Whether it has it.
    fn has(&self) -> Result<bool, Error>;
}

/// What that one calls.
#[cairn::interface]
pub trait Keep {
    /// Does not come back.
    fn keep(&self) -> Result<(), Error>;
}
