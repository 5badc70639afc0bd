//! The interface for the longest calls: three parameters that are copied.

use cairn::Error;

/// Takes what is copied.
#[cairn::interface]
pub trait Copies {
    /// Three buffers, forth and back.
    fn three(&self, first: &mut [u8], second: &mut [u8], third: &mut [u8]) -> Result<(), Error>;
}
