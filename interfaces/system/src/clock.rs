//! The clock.

use cairn::{Error, Object, Place};

/// Time.
#[cairn::interface]
pub trait Clock {
    /// Nanoseconds since the start.
    fn uptime(&self) -> Result<u64, Error>;
    /// Ticks of the time base in a second.
    fn time_base(&self) -> Result<u64, Error>;
    /// Sleeps for a number of nanoseconds.
    fn sleep(&self, nanoseconds: u64) -> Result<(), Error>;
    /// Opens a periodic timer.
    fn timer(&self, place: Place, period: u64) -> Result<Object<dyn Timer>, Error>;
}

/// A periodic timer: an object.
#[cairn::interface]
pub trait Timer {
    /// Waits for the next period; the value is how many have passed since the last wait.
    #[waits]
    fn wait(&self) -> Result<u64, Error>;
    /// Changes the period, in nanoseconds; the next one begins now.
    fn set_period(&self, period: u64) -> Result<(), Error>;
    /// Ends the timer.
    fn close(&self) -> Result<(), Error>;
}
