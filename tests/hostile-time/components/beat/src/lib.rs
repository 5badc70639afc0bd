//! What the components of the test of time agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// A driver that treats its device badly.
#[cairn::interface]
pub trait Storm {
    /// What it does from now on: see [`mode`]. The value is how many interrupts there were so far.
    fn behave(&self, mode: u64) -> Result<u64, Error>;
}

/// What the driver does when its device interrupts.
pub mod mode {
    /// Nothing interrupts.
    pub const CALM: u64 = 0;
    /// It acknowledges at once, without serving the device, which interrupts again.
    pub const STORM: u64 = 1;
    /// It never acknowledges.
    pub const SILENCE: u64 = 2;
}

/// A server that keeps threads.
#[cairn::interface]
pub trait Spinner {
    /// Does not return.
    fn spin(&self) -> Result<u64, Error>;
}

/// What the section `beats` holds: words by their offsets.
pub mod beats {
    /// How often the pulse woke up.
    pub const COUNT: usize = 0;
    /// The longest time in ticks from when it was due until it ran; whoever sets it to 0 begins anew.
    pub const LATEST: usize = 8;
    /// How many interrupts of the second device its driver has served.
    pub const ALARMS: usize = 16;
    /// The longest time in nanoseconds from such an interrupt until the driver runs; as above.
    pub const ALARM_LATEST: usize = 24;
}
