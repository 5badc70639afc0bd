//! What a client and a server that trust each other agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// A server that can be called with every kind of trust.
#[cairn::interface]
pub trait Friend {
    /// The address of something on the stack that the call runs on.
    fn stack(&self) -> Result<u64, Error>;
    /// The sum of the bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Writes a byte everywhere.
    fn fill(&self, bytes: &mut [u8], byte: u8) -> Result<(), Error>;
    /// The seven words in another order, as four: a reply of several words.
    fn mixed(
        &self,
        first: u64,
        second: u64,
        third: u64,
        fourth: u64,
        fifth: u64,
        sixth: u64,
        seventh: u64,
    ) -> Result<(u64, u64, u64, u64), Error>;
    /// An error, or death with these words in the registers of a reply.
    fn mixed_not(&self, error: bool, secret: u64) -> Result<(u64, u64, u64, u64), Error>;
    /// Uses every register that calls keep, and dies.
    fn die(&self, seed: u64) -> Result<u64, Error>;
    /// Writes a byte everywhere, and dies while the window is open.
    fn fill_and_die(&self, bytes: &mut [u8], byte: u8) -> Result<(), Error>;
}

/// Keeps sixteen words in use at a time, more than there are registers that a call keeps: the sum of
/// what `next` makes of them, which is called in between.
#[inline(always)]
pub fn busy(seed: u64, mut next: impl FnMut(u64)) -> u64 {
    let words: [u64; 16] = core::array::from_fn(|index| {
        core::hint::black_box(seed.wrapping_mul(2 * index as u64 + 3))
    });
    next(seed);
    words.iter().fold(seed, |sum, word| sum.rotate_left(7) ^ word)
}
