//! The console: a terminal, which several clients share line by line.

use cairn::text::Lines;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use core::fmt::{Arguments, Write};

/// What is typed for a component that has a terminal of its own; what that shows goes to the console.
#[cairn::interface]
pub trait Keyboard {
    /// Takes text as if it had been typed; what there is no room for is lost, as by a serial line.
    fn type_text(&self, text: &[u8]) -> Result<(), Error>;
}

/// The terminal, as its users see it.
#[cairn::interface]
pub trait Console {
    /// Writes text; returns when the driver has taken all of it. Up to 256 bytes are never mixed with
    /// what others write, and never behind half a line of another thread's. A line feed goes to the start of the next line.
    fn write(&self, text: &[u8]) -> Result<(), Error>;
    /// Waits for input and reads what is there, not shown, at most the buffer; the value is its length.
    #[waits]
    fn read(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Reads what input is there without waiting.
    fn try_read(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Waits for a line, which is shown while it is typed and can be corrected with backspace and
    /// ctrl-U; the value is its length without the end of the line. What does not fit is cut off.
    #[waits]
    fn read_line(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Opens the terminal for oneself, twice at most: one more ends the oldest.
    fn open(&self, place: Place) -> Result<Object<dyn Terminal>, Error>;
}

/// A console that takes text and has nothing to read: what implements this is a [`Console`] whose other methods answer `NotSupported`.
pub trait WriteOnlyConsole {
    /// [`Console::write`].
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error>;
}

impl<T: WriteOnlyConsole> Console for T {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        WriteOnlyConsole::write(self, text)
    }

    fn read(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn try_read(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn read_line(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn open(&self, _: Place) -> Result<Object<dyn Terminal>, Error> {
        Err(Error::NotSupported)
    }
}

impl ConsoleProxy {
    /// Writes formatted text, as `CONSOLE.print(format_args!("{number} degrees\n"))`: each line at once, longer ones in
    /// pieces of 128 bytes.
    pub fn print(&self, text: Arguments) -> Result<(), Error> {
        let mut result = Ok(());
        let mut lines = Lines::<128, _>::new(|text: &str| {
            result = result.and_then(|()| self.write(text.as_bytes()));
        });
        // Lines take any text.
        let _ = lines.write_fmt(text);
        lines.flush();
        result
    }
}

impl cairn::log::Console for ConsoleProxy {
    fn print(&self, text: Arguments) -> bool {
        let _ = ConsoleProxy::print(self, text);
        true
    }
}

/// The terminal, opened: an object. What it writes comes out in whole lines, however it is written.
#[cairn::interface]
pub trait Terminal {
    /// Writes text. It is shown when its line ends, when 256 bytes have come together, or with `flush`.
    fn write(&self, text: &[u8]) -> Result<(), Error>;
    /// Shows what was written of a line that has not ended.
    fn flush(&self) -> Result<(), Error>;
    /// Shows what was written, a prompt perhaps, and waits for a line as [`Console::read_line`] does.
    #[waits]
    fn read_line(&self, buffer: &mut [u8]) -> Result<usize, Error>;
    /// Whether lines are shown while they are typed; they are at first.
    fn set_echo(&self, on: bool) -> Result<(), Error>;
    /// Shows what was written and ends the object.
    fn close(&self) -> Result<(), Error>;
}
