//! Devices on serial buses.

use crate::Fault;
use crate::staged::Staged;
use cairn_driver_interfaces::{OperationKind, SpiProxy};
use embedded_hal::spi::{self, ErrorType, Operation};

/// A device, with transactions of at most `N` bytes, which are on the stack meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct SpiDevice<const N: usize = 512>(pub SpiProxy);

impl<const N: usize> ErrorType for SpiDevice<N> {
    type Error = Fault;
}

impl<const N: usize> spi::SpiDevice for SpiDevice<N> {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Fault> {
        let mut staged = Staged::<N>::new();
        for operation in operations.iter() {
            match operation {
                Operation::Read(bytes) => staged.add(OperationKind::Read, bytes.len(), |_| {})?,
                Operation::Write(bytes) => {
                    staged.add(OperationKind::Write, bytes.len(), |room| {
                        room.copy_from_slice(bytes)
                    })?
                }
                // Of two lengths the longer one counts; zeros are sent beyond what there is to write.
                Operation::Transfer(read, write) => {
                    staged.add(OperationKind::Transfer, read.len().max(write.len()), |room| {
                        room[..write.len()].copy_from_slice(write);
                    })?
                }
                Operation::TransferInPlace(bytes) => {
                    staged.add(OperationKind::Transfer, bytes.len(), |room| {
                        room.copy_from_slice(bytes)
                    })?
                }
                Operation::DelayNs(nanoseconds) => staged.delay(*nanoseconds)?,
            }
        }
        let (list, data) = staged.parts();
        self.0.transact(list, data)?;
        let mut at = 0;
        for operation in operations {
            let (read, length): (&mut [u8], usize) = match operation {
                Operation::Write(bytes) => (&mut [], bytes.len()),
                Operation::DelayNs(_) => (&mut [], 0),
                Operation::Transfer(read, write) => {
                    let length = read.len().max(write.len());
                    (read, length)
                }
                Operation::Read(bytes) | Operation::TransferInPlace(bytes) => {
                    let length = bytes.len();
                    (bytes, length)
                }
            };
            read.copy_from_slice(staged.bytes(at..at + read.len()));
            at += length;
        }
        Ok(())
    }
}
