//! Short texts without an allocator.

use core::fmt::{Arguments, Error, Write};

/// Most bytes of a text: two names and some numbers.
const CAPACITY: usize = 160;

/// A text.
pub struct Text {
    bytes: [u8; CAPACITY],
    used: usize,
}

impl Text {
    /// Formats. Panics if it does not fit.
    pub fn of(arguments: Arguments) -> Text {
        let mut text = Text { bytes: [0; CAPACITY], used: 0 };
        text.write_fmt(arguments).expect("the text is short");
        text
    }

    /// It.
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.used]).expect("only text is written")
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.used + text.len();
        self.bytes.get_mut(self.used..end).ok_or(Error)?.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}
