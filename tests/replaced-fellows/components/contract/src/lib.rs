//! Who is in one domain with a counter.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Counts by the counter, which it calls without a portal.
#[cairn::interface]
pub trait Front {
    /// Adds to what the counter has; the sum, and how often it was asked for that.
    fn add(&self, amount: u64) -> Result<(u64, u64), Error>;
    /// Which content the counter has, and which its own is.
    fn kinds(&self) -> Result<(u64, u64), Error>;
    /// Comes back from the counter after so many ticks.
    fn stay(&self, ticks: u64) -> Result<(), Error>;
    /// What it does when its state goes over, one of `misbehaves`.
    fn misbehave(&self, how: u64) -> Result<(), Error>;
}

/// Is not in their domain.
#[cairn::interface]
pub trait Keeper {
    /// Comes back after so many ticks, and not before.
    fn keep(&self, ticks: u64) -> Result<(), Error>;
}

/// What it does.
pub mod misbehaves {
    /// It does not give its state away.
    pub const KEEPS: u64 = 1;
    /// It dies when it is asked for it.
    pub const DIES: u64 = 2;
    /// Its next life does not take it.
    pub const REFUSES: u64 = 3;
    /// Its next life dies of it.
    pub const CHOKES: u64 = 4;
    /// It does not call its callers home.
    pub const STAYS: u64 = 5;
    /// Its own thread does not come home in time.
    pub const LINGERS: u64 = 6;
}
