//! Disks.

use cairn::Error;

/// A disk: blocks of [`BLOCK_SIZE`] bytes, by their numbers.
#[cairn::interface]
pub trait Blocks {
    /// How many blocks it has, and whether they can be written.
    fn size(&self) -> Result<(u64, bool), Error>;
    /// Reads blocks from `first` on, as many as the buffer holds: whole ones, at most 16 KiB.
    fn read(&self, first: u64, buffer: &mut [u8]) -> Result<(), Error>;
    /// Writes blocks from `first` on. They last, also where the power fails, once a `flush` that came after has answered.
    /// [`Error::Cancelled`]: they are written or not, but before whatever is asked for later.
    fn write(&self, first: u64, buffer: &[u8]) -> Result<(), Error>;
    /// All that was written before lasts.
    fn flush(&self) -> Result<(), Error>;
}

/// Bytes of a block.
pub const BLOCK_SIZE: u64 = 512;

/// The number of bytes of a call, if it is of whole blocks that a disk of `size` blocks has from `first` on.
pub fn blocks_checked(size: u64, first: u64, bytes: usize) -> Result<u64, Error> {
    let blocks = bytes as u64 / BLOCK_SIZE;
    let is_whole = bytes > 0 && (bytes as u64).is_multiple_of(BLOCK_SIZE);
    match is_whole && first <= size && blocks <= size - first {
        true => Ok(blocks),
        false => Err(Error::BadArgument),
    }
}
