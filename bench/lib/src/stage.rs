//! The interface of what passes readings on.

use cairn::Error;

/// A component in a chain from a sensor to an actuator.
#[cairn::interface]
pub trait Stage {
    /// Takes a reading; the value is what the actuator was set to.
    fn take(&self, reading: u64) -> Result<u64, Error>;
}
