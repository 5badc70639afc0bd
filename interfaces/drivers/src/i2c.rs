//! Buses of two wires.

use cairn::Error;

/// A bus of two wires, on which devices have addresses. Who has it talks to all of them.
#[cairn::interface]
pub trait I2c {
    /// One transaction with the device at an address (7 bits; 10 with [`I2C_TEN_BITS`]), in one go: a start, the
    /// [`operations`](crate::operations) in order, with another start where the direction changes, and a stop. They are writes
    /// and reads.
    fn transact(&self, address: u16, operations: &[u8], data: &mut [u8]) -> Result<(), I2cError>;
}

/// Beside an address: it has 10 bits.
pub const I2C_TEN_BITS: u16 = 1 << 15;

/// How a transaction can end beside success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
pub enum I2cError {
    /// No device has this address.
    NoDevice,
    /// The device does not take a byte.
    NotAcknowledged,
    /// Another has taken the bus meanwhile.
    ArbitrationLost,
    /// The wires are not as they should be.
    BusFault,
    /// The call failed.
    Portal(Error),
}
