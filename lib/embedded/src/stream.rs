//! Streams of bytes.

use crate::Fault;
use cairn_interfaces::{ConsoleProxy, TerminalProxy};
use embedded_io::{ErrorType, Read, ReadReady, Write};

/// Bytes that a call passes, which is as much as a console never mixes with what others write.
const AT_ONCE: usize = 256;

/// The console: what is typed, and what is shown, at once.
#[derive(Debug)]
pub struct ConsoleStream {
    console: ConsoleProxy,
    /// A byte that was read to see whether there is one.
    ahead: Option<u8>,
}

impl ConsoleStream {
    /// The stream of a console.
    pub fn new(console: ConsoleProxy) -> ConsoleStream {
        ConsoleStream { console, ahead: None }
    }
}

impl ErrorType for ConsoleStream {
    type Error = Fault;
}

impl Read for ConsoleStream {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        if let Some(byte) = self.ahead.take() {
            *first = byte;
            return Ok(1);
        }
        let room = buffer.len().min(AT_ONCE);
        Ok(self.console.read(&mut buffer[..room])?)
    }
}

impl ReadReady for ConsoleStream {
    fn read_ready(&mut self) -> Result<bool, Fault> {
        if self.ahead.is_none() {
            let mut byte = [0];
            self.ahead = (self.console.try_read(&mut byte)? > 0).then_some(byte[0]);
        }
        Ok(self.ahead.is_some())
    }
}

impl Write for ConsoleStream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let count = bytes.len().min(AT_ONCE);
        self.console.write(&bytes[..count])?;
        Ok(count)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A terminal that was opened: what is written comes out in whole lines, or with `flush`.
#[derive(Debug)]
pub struct TerminalStream(pub TerminalProxy);

impl ErrorType for TerminalStream {
    type Error = Fault;
}

impl Write for TerminalStream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let count = bytes.len().min(AT_ONCE);
        self.0.write(&bytes[..count])?;
        Ok(count)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        Ok(self.0.flush()?)
    }
}
