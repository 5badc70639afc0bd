//! Random bytes.

use cairn::Error;

/// A source of random bytes.
#[cairn::interface]
pub trait Random {
    /// Fills the beginning of a buffer; how many bytes, at least one of a buffer that is not empty.
    fn fill(&self, buffer: &mut [u8]) -> Result<usize, Error>;
}
