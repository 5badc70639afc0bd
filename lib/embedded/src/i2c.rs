//! Buses of two wires.

use crate::I2cFault;
use crate::staged::Staged;
use cairn_driver_interfaces::{I2C_TEN_BITS, I2cProxy, OperationKind};
use embedded_hal::i2c::{ErrorType, I2c, Operation, SevenBitAddress, TenBitAddress};

/// A bus, with transactions of at most `N` bytes, which are on the stack meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct I2cBus<const N: usize = 256>(pub I2cProxy);

impl<const N: usize> I2cBus<N> {
    fn transact(&self, address: u16, operations: &mut [Operation<'_>]) -> Result<(), I2cFault> {
        let mut staged = Staged::<N>::new();
        for operation in operations.iter() {
            match operation {
                Operation::Write(bytes) => {
                    staged.add(OperationKind::Write, bytes.len(), |room| {
                        room.copy_from_slice(bytes)
                    })?
                }
                Operation::Read(bytes) => staged.add(OperationKind::Read, bytes.len(), |_| {})?,
            }
        }
        let (list, data) = staged.parts();
        self.0.transact(address, list, data).map_err(I2cFault)?;
        let mut at = 0;
        for operation in operations {
            match operation {
                Operation::Write(bytes) => at += bytes.len(),
                Operation::Read(bytes) => {
                    bytes.copy_from_slice(staged.bytes(at..at + bytes.len()));
                    at += bytes.len();
                }
            }
        }
        Ok(())
    }
}

impl<const N: usize> ErrorType for I2cBus<N> {
    type Error = I2cFault;
}

impl<const N: usize> I2c<SevenBitAddress> for I2cBus<N> {
    fn transaction(
        &mut self,
        address: u8,
        operations: &mut [Operation<'_>],
    ) -> Result<(), I2cFault> {
        self.transact(address.into(), operations)
    }
}

impl<const N: usize> I2c<TenBitAddress> for I2cBus<N> {
    fn transaction(
        &mut self,
        address: u16,
        operations: &mut [Operation<'_>],
    ) -> Result<(), I2cFault> {
        self.transact(address | I2C_TEN_BITS, operations)
    }
}
