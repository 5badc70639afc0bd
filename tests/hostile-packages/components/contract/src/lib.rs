//! What is asked of the store of mutated packages.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Mutates.
#[cairn::interface]
pub trait Mutator {
    /// From now on the package is another one, by this number; 0: as it is on the shelf.
    fn mutate(&self, number: u64) -> Result<(), Error>;
}
