//! The console: one line-oriented terminal.

use cairn::Error;

/// The terminal, as its users see it.
#[cairn::interface]
pub trait Console {
    /// Writes text; returns when the driver has taken all of it.
    fn write(&self, text: &[u8]) -> Result<(), Error>;
    /// Waits for input and reads what is there, at most the buffer; the value is its length.
    fn read(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Reads what input is there without waiting.
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize, Error>;
}
