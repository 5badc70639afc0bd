//! The interrupt dispatcher.

use cairn::Error;

/// Where the nucleus enters the dispatcher.
#[cairn::interface]
pub trait InterruptUpcalls {
    /// A device interrupts.
    fn external(&self) -> Result<(), Error>;
}

/// A device's interrupt, for its driver: an object. Drivers have `waiting::Interrupt`, which waits for it as well.
#[cairn::interface]
pub trait Interrupt {
    /// The device has been served and has lowered its line: its source may interrupt again.
    fn acknowledge(&self) -> Result<(), Error>;
}
