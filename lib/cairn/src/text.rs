//! Text in memory of one's own, without allocation.

use crate::window::WriteWindow;
use core::fmt::{Arguments, Error, Result, Write};

/// At most `N` bytes of text. What was written first is kept: text that does not fit is cut at the beginning of a
/// character, that write fails, and so do all later ones.
pub struct Line<const N: usize> {
    bytes: [u8; N],
    used: usize,
    is_cut: bool,
}

impl<const N: usize> Line<N> {
    /// An empty line.
    pub const fn new() -> Self {
        Line { bytes: [0; N], used: 0, is_cut: false }
    }

    /// As much of the formatted text as fits.
    pub fn of(text: Arguments) -> Self {
        let mut line = Line::new();
        let _ = line.write_fmt(text);
        line
    }

    /// What was written.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }

    /// The same as text.
    pub fn text(&self) -> &str {
        core::str::from_utf8(self.bytes()).unwrap_or_default()
    }

    /// Whether something did not fit.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.used = 0;
        self.is_cut = false;
    }

    /// For a server that lists things: puts the line into the client's window, as much as fits. The value is what such
    /// methods reply: the length, and `number`.
    pub fn answer(
        &self,
        window: &WriteWindow<'_>,
        number: u64,
    ) -> core::result::Result<(usize, u64), crate::Error> {
        Ok((window.write(0, self.bytes())?, number))
    }

    /// Appends the beginning of `text` that fits; the rest.
    fn append<'text>(&mut self, text: &'text str) -> &'text str {
        let room = N - self.used;
        let mut count = text.len().min(room);
        while !text.is_char_boundary(count) {
            count -= 1;
        }
        let (fits, rest) = text.split_at(count);
        if let Some(free) = self.bytes.get_mut(self.used..self.used + count) {
            free.copy_from_slice(fits.as_bytes());
            self.used += count;
        }
        rest
    }
}

impl<const N: usize> Default for Line<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Write for Line<N> {
    fn write_str(&mut self, text: &str) -> Result {
        self.is_cut = self.is_cut || !self.append(text).is_empty();
        if self.is_cut { Err(Error) } else { Ok(()) }
    }
}

/// Text on its way to a console: it is handed over when a line ends and when `N` bytes, at least 4, have come together.
/// The last, unfinished line waits for [`Lines::flush`].
pub struct Lines<const N: usize, F: FnMut(&str)> {
    line: Line<N>,
    hand_over: F,
}

impl<const N: usize, F: FnMut(&str)> Lines<N, F> {
    /// Nothing written yet.
    pub const fn new(hand_over: F) -> Self {
        const { assert!(N >= 4, "the longest character has 4 bytes") };
        Lines { line: Line::new(), hand_over }
    }

    /// Hands over what there is.
    pub fn flush(&mut self) {
        if self.line.used > 0 {
            (self.hand_over)(self.line.text());
            self.line.clear();
        }
    }
}

impl<const N: usize, F: FnMut(&str)> Write for Lines<N, F> {
    fn write_str(&mut self, text: &str) -> Result {
        for mut part in text.split_inclusive('\n') {
            loop {
                part = self.line.append(part);
                if part.is_empty() {
                    break;
                }
                self.flush();
            }
            if self.line.bytes().ends_with(b"\n") {
                self.flush();
            }
        }
        Ok(())
    }
}
