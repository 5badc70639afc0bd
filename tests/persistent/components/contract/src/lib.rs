//! What the judge asks of a disk.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Cuts a disk's power.
#[cairn::interface]
pub trait Cuts {
    /// After so many blocks more nothing is written any more, and every call fails. Of the blocks that were not flushed any is there then or not,
    /// by chance, from this seed on; 0: all are there.
    fn arm(&self, blocks: u64, seed: u64) -> Result<(), Error>;
    /// The power comes back; whether it was cut.
    fn mend(&self) -> Result<bool, Error>;
}
