//! A transaction on its way to a server, in one call.

use cairn::Error;
use cairn_driver_interfaces::{Operation, OperationKind};
use core::ops::Range;

/// Most operations of a transaction.
const OPERATIONS: usize = 16;

/// The list of operations, and their bytes, of which there are at most `N`.
pub struct Staged<const N: usize> {
    list: [u8; OPERATIONS * Operation::SIZE],
    listed: usize,
    data: [u8; N],
    used: usize,
}

impl<const N: usize> Staged<N> {
    /// Nothing yet.
    pub fn new() -> Self {
        Staged { list: [0; OPERATIONS * Operation::SIZE], listed: 0, data: [0; N], used: 0 }
    }

    /// Adds an operation of so many bytes, which `write` fills in. `TooLarge`: they are too many, or the operations are.
    pub fn add(
        &mut self,
        kind: OperationKind,
        bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<(), Error> {
        let place = self.used..self.used.saturating_add(bytes);
        let room = self.data.get_mut(place.clone()).ok_or(Error::TooLarge)?;
        write(room);
        self.used = place.end;
        self.list(kind, u32::try_from(bytes).map_err(|_| Error::TooLarge)?)
    }

    /// Adds a delay.
    pub fn delay(&mut self, nanoseconds: u32) -> Result<(), Error> {
        self.list(OperationKind::Delay, nanoseconds)
    }

    fn list(&mut self, kind: OperationKind, amount: u32) -> Result<(), Error> {
        let end = self.listed + Operation::SIZE;
        let room = self.list.get_mut(self.listed..end).ok_or(Error::TooLarge)?;
        room.copy_from_slice(&Operation { kind, amount }.to_bytes());
        self.listed = end;
        Ok(())
    }

    /// The list and the bytes, for the call.
    pub fn parts(&mut self) -> (&[u8], &mut [u8]) {
        (&self.list[..self.listed], &mut self.data[..self.used])
    }

    /// Bytes that came back.
    pub fn bytes(&self, place: Range<usize>) -> &[u8] {
        &self.data[place]
    }
}
