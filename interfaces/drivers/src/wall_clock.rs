//! The time of day.

use cairn::Error;

/// A clock that goes on while the machine is off.
#[cairn::interface]
pub trait WallClock {
    /// Nanoseconds since the beginning of 1970, UTC.
    fn now(&self) -> Result<u64, Error>;
    /// Waits until that time has come; returns at once if it has passed. [`Error::Busy`]: as many wait as the clock's
    /// driver has room for.
    fn wait_until(&self, time: u64) -> Result<(), Error>;
}
