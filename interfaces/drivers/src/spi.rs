//! Devices on serial buses with a wire that selects each.

use cairn::Error;

/// One device on such a bus: who has it does not reach the others. Speed and mode are the server's to know.
#[cairn::interface]
pub trait Spi {
    /// One transaction, in one go: the device is selected, the [`operations`](crate::operations) are done in order, and it is not
    /// selected any more.
    fn transact(&self, operations: &[u8], data: &mut [u8]) -> Result<(), Error>;
}
