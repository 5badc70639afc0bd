//! The example: words, text in, bytes out.

use cairn::Error;

/// Answers what it is told.
#[cairn::interface]
pub trait Echo {
    /// The sum; [`Error::BadArgument`] if it does not fit into a word.
    fn add(&self, left: u64, right: u64) -> Result<u64, Error>;

    /// Takes a line of text.
    fn say(&self, text: &str) -> Result<(), Error>;

    /// Fills the buffer with the text said last and returns its length.
    fn fill(&self, buffer: &mut [u8]) -> Result<usize, Error>;
}
