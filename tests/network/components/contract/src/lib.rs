//! What the components of this test agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// A network card: frames of Ethernet, without their checksum.
#[cairn::interface]
pub trait Frames {
    /// The card's address, in the lowest 48 bits, the first byte in the lowest eight.
    fn address(&self) -> Result<u64, Error>;
    /// Sends a frame.
    fn send(&self, frame: &[u8]) -> Result<(), Error>;
    /// Waits for a frame, also in a successor; its length. What the buffer does not hold is lost.
    #[waits]
    fn receive(&self, frame: &mut [u8]) -> Result<usize, Error>;
}
