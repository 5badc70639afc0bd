//! Networks.

use cairn::{Caller, Error};

/// A network: frames of Ethernet, without their checksum, at most [`FRAME_MAXIMUM`] bytes. A frame that nobody takes in time is lost.
#[cairn::interface]
pub trait Frames {
    /// The client's address in it, in the lowest 48 bits, the first byte in the lowest eight.
    fn address(&self, caller: Caller) -> Result<u64, Error>;
    /// Sends a frame.
    fn send(&self, caller: Caller, frame: &[u8]) -> Result<(), Error>;
    /// Waits for a frame, also in a successor; its length. What the buffer does not hold is lost.
    #[waits]
    fn receive(&self, caller: Caller, frame: &mut [u8]) -> Result<usize, Error>;
}

/// Bytes of the longest frame: two addresses, a type, 1500 bytes.
pub const FRAME_MAXIMUM: usize = 1514;
