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
    /// Has the server's own thread take the only stack that its keeper has for it; whether that thread is about to.
    fn occupy(&self) -> Result<bool, Error>;
    /// Waits for that stack; how many calls this life of the server has done.
    fn wait(&self) -> Result<u64, Error>;
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
    /// Does not come back, or with the argument `once` when its wait was ended.
    fn keep(&self) -> Result<(), Error>;
}
