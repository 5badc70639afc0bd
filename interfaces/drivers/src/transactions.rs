//! What the transactions of buses consist of, as [`I2c`](crate::I2c) and [`Spi`](crate::Spi) pass them: a list of operations, and
//! one buffer with the bytes of all of them, those that are written and room for those that are read.

use cairn::Error;
use core::ops::Range;

/// What an operation does with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OperationKind {
    /// They go to the device.
    Write = 0,
    /// They come from the device.
    Read = 1,
    /// They go to the device, and what comes meanwhile takes their place.
    Transfer = 2,
    /// There are none: nothing happens for so many nanoseconds.
    Delay = 3,
}

/// An operation of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// Bytes, or nanoseconds of a delay.
    pub amount: u32,
}

impl Operation {
    /// Bytes of an operation in the list: its kind, its amount with the lowest byte first.
    pub const SIZE: usize = 5;

    /// As it stands in the list.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let [first, second, third, fourth] = self.amount.to_le_bytes();
        [self.kind as u8, first, second, third, fourth]
    }

    fn from_bytes(bytes: &[u8]) -> Option<Operation> {
        let [kind, amount @ ..] = bytes.first_chunk::<{ Self::SIZE }>()?;
        let kind = match kind {
            0 => OperationKind::Write,
            1 => OperationKind::Read,
            2 => OperationKind::Transfer,
            3 => OperationKind::Delay,
            _ => return None,
        };
        Some(Operation { kind, amount: u32::from_le_bytes(*amount) })
    }
}

/// Goes through a list with the place of each operation's bytes in the buffer, which has `length`. `Malformed`, before the first:
/// the list is none, or is not of so many bytes.
pub fn operations(
    list: &[u8],
    length: usize,
) -> Result<impl Iterator<Item = (Operation, Range<usize>)>, Error> {
    let all = || {
        let mut end = 0;
        list.chunks(Operation::SIZE).map(move |bytes| {
            let operation = Operation::from_bytes(bytes)?;
            let start = end;
            if operation.kind != OperationKind::Delay {
                end = usize::checked_add(start, operation.amount as usize)?;
            }
            Some((operation, start..end))
        })
    };
    let end = all().try_fold(0, |_, operation| Some(operation?.1.end));
    match end == Some(length) {
        true => Ok(all().flatten()),
        false => Err(Error::Malformed),
    }
}
