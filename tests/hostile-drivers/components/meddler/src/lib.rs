//! The interface of a driver that does what it is told.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// A driver beside another.
#[cairn::interface]
pub trait Meddle {
    /// How many interrupts came in this life.
    fn count(&self) -> Result<u64, Error>;
    /// What it does at its next interrupt: one of [`deed`].
    fn next(&self, deed: u64) -> Result<(), Error>;
    /// Calls portals by chance, those of its fellow as its own, on the caller's thread.
    fn chance(&self, seed: u64, calls: u64) -> Result<(), Error>;
}

/// What a driver does with an interrupt that it has claimed.
pub mod deed {
    /// It serves and acknowledges it.
    pub const SERVE: u64 = 0;
    /// It dies.
    pub const DIE: u64 = 1;
    /// It ends, and does not acknowledge.
    pub const END: u64 = 2;
    /// It runs for ever.
    pub const SPIN: u64 = 3;
    /// It acknowledges without lowering its line, again and again.
    pub const STORM: u64 = 4;
    /// How many there are.
    pub const DEEDS: u64 = 5;
}
