//! The console: one line-oriented terminal.

use cairn::Error;

/// The terminal, as its users see it.
#[cairn::interface]
pub trait Console {
    /// Writes text; returns when the driver has taken all of it. Up to 256 bytes are never mixed with
    /// what others write. A line feed goes to the start of the next line.
    fn write(&self, text: &[u8]) -> Result<(), Error>;
    /// Waits for input and reads what is there, not shown, at most the buffer; the value is its length.
    fn read(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Reads what input is there without waiting.
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Waits for a line, which is shown while it is typed and can be corrected with backspace and
    /// ctrl-U; the value is its length without the end of the line. What does not fit is cut off.
    fn read_line(&self, buffer: &mut [u8]) -> Result<usize, Error>;
}
