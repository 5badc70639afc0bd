//! What is replaced while it is called.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// Counts.
#[cairn::interface]
pub trait Counter {
    /// Adds to what was added before; the sum.
    fn add(&self, amount: u64) -> Result<u64, Error>;
    /// Which content it has.
    fn kind(&self) -> Result<u64, Error>;
    /// A counter of one's own.
    fn cell(&self, place: Place, first: u64) -> Result<Object<dyn Cell>, Error>;
    /// Waits until `wake` is called; the value is which content it has then.
    #[waits]
    fn wait(&self) -> Result<u64, Error>;
    /// Whoever waits comes back.
    fn wake(&self) -> Result<(), Error>;
    /// Comes back after so many ticks.
    fn stay(&self, ticks: u64) -> Result<(), Error>;
}

/// A counter of a client's own.
#[cairn::interface]
pub trait Cell {
    /// Adds to what was added before; the sum.
    fn add(&self, amount: u64) -> Result<u64, Error>;
}

/// Who calls all the time.
#[cairn::interface]
pub trait Witness {
    /// How many calls were answered, and how many were not.
    fn seen(&self) -> Result<(u64, u64), Error>;
}

/// What a content does.
pub mod kinds {
    /// What it should.
    pub const GOOD: u64 = 1;
    /// The same.
    pub const OTHER: u64 = 2;
    /// It faults before it serves.
    pub const FAULTS: u64 = 3;
    /// It never serves.
    pub const SLEEPS: u64 = 4;
    /// It does not take the state.
    pub const REFUSES: u64 = 5;
    /// It faults when it takes the state.
    pub const DIES: u64 = 6;
    /// It computes for ever before it serves.
    pub const SPINS: u64 = 7;
    /// It never comes back from taking the state.
    pub const KEEPS: u64 = 8;
    /// With another of these added: that in its other place, and what it should where it begins.
    pub const ELSEWHERE: u64 = 0x100;
}
