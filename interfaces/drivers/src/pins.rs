//! Digital pins.

use cairn::Error;

/// Pins, by their numbers: those that the export is about.
#[cairn::interface]
pub trait Pins {
    /// Makes a pin an output with this level.
    fn drive(&self, pin: u64, high: bool) -> Result<(), Error>;
    /// Makes a pin an input.
    fn release(&self, pin: u64) -> Result<(), Error>;
    /// The level at a pin, whoever makes it.
    fn level(&self, pin: u64) -> Result<bool, Error>;
}
