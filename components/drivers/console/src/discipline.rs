//! What a terminal wants of bytes: both ends of a line, echo, erasing.

const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;
/// Ctrl-U and ctrl-C: forget the line.
const KILL: u8 = 0x15;
const CANCEL: u8 = 0x03;

/// Bytes on their way to the terminal: it wants a carriage return before each line feed.
pub fn output(byte: u8) -> impl Iterator<Item = u8> {
    (byte == b'\n').then_some(b'\r').into_iter().chain([byte])
}

/// A line while it is typed, for clients that do not edit it themselves.
pub struct Line<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Line<N> {
    /// Nothing typed yet.
    pub const fn new() -> Self {
        Line { bytes: [0; N], length: 0 }
    }

    /// What has been typed, without the end of the line.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// A byte was typed; `echo` shows bytes. The answer is whether the line has ended.
    pub fn take(&mut self, byte: u8, mut echo: impl FnMut(&[u8])) -> bool {
        match byte {
            b'\r' | b'\n' => {
                echo(b"\n");
                return true;
            }
            BACKSPACE | DELETE => self.erase(&mut echo),
            KILL | CANCEL => {
                while self.length > 0 {
                    self.erase(&mut echo);
                }
            }
            b' '..=b'~' | 0x80.. if self.length < N => {
                self.bytes[self.length] = byte;
                self.length += 1;
                echo(&[byte]);
            }
            // No room, or a control character: the bell.
            _ => echo(b"\x07"),
        }
        false
    }

    /// Erases a character, which is several bytes in UTF-8 but one place on the terminal.
    fn erase(&mut self, echo: &mut impl FnMut(&[u8])) {
        while self.length > 0 {
            self.length -= 1;
            if self.bytes[self.length] & 0xc0 != 0x80 {
                echo(b"\x08 \x08");
                return;
            }
        }
    }
}

impl<const N: usize> Default for Line<N> {
    fn default() -> Self {
        Line::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Line, output};
    use std::string::String;
    use std::vec::Vec;

    /// Types `input`; the line if it ended, and what the terminal was sent.
    fn typed<const N: usize>(input: &str) -> (Option<String>, String) {
        let mut line = Line::<N>::new();
        let mut shown = Vec::new();
        let ended =
            input.bytes().any(|byte| line.take(byte, |bytes| shown.extend_from_slice(bytes)));
        let text = String::from_utf8(line.bytes().to_vec()).unwrap();
        (ended.then_some(text), String::from_utf8(shown).unwrap())
    }

    #[test]
    fn a_line_ends_at_return_or_line_feed() {
        assert_eq!(typed::<16>("hello\r"), (Some("hello".into()), "hello\n".into()));
        assert_eq!(typed::<16>("a\n"), (Some("a".into()), "a\n".into()));
        assert_eq!(typed::<16>("abc").0, None);
    }

    #[test]
    fn erasing_takes_whole_characters_and_stops_at_the_start() {
        assert_eq!(typed::<16>("ab\x7fc\r"), (Some("ac".into()), "ab\x08 \x08c\n".into()));
        assert_eq!(typed::<16>("é\x08e\r"), (Some("e".into()), "é\x08 \x08e\n".into()));
        assert_eq!(typed::<16>("\x7f\x7fx\r"), (Some("x".into()), "x\n".into()));
        assert_eq!(typed::<16>("abc\x15d\r").0, Some("d".into()));
    }

    #[test]
    fn a_full_line_and_control_characters_ring_the_bell() {
        assert_eq!(typed::<2>("abc\r"), (Some("ab".into()), "ab\x07\n".into()));
        assert_eq!(typed::<4>("\x01\r"), (Some("".into()), "\x07\n".into()));
    }

    #[test]
    fn line_feeds_get_a_carriage_return() {
        assert_eq!(
            b"a\nb\n".iter().flat_map(|byte| output(*byte)).collect::<Vec<u8>>(),
            b"a\r\nb\r\n"
        );
    }
}
