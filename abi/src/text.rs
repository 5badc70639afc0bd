//! Text that came from a component, for people's terminals.

use core::fmt;

/// Bytes of a component, shown as printable ASCII and nothing else: what is not is escaped as in a string of Rust,
/// `\n`, `\u{1b}`; a byte that is no UTF-8 is `\xff`, and a backslash is doubled.
///
/// Letters beyond ASCII are escaped too. The writer does not know what encoding the terminal has, and in another
/// than UTF-8 the second byte of a letter can be a control: `Û` has the byte 0x9b, which begins a command.
#[derive(Clone, Copy, Debug)]
pub struct Visible<'a>(pub &'a [u8]);

impl<'a> Visible<'a> {
    /// The same of text.
    pub fn text(text: &'a str) -> Visible<'a> {
        Visible(text.as_bytes())
    }
}

/// Longest character of UTF-8.
const CHARACTER_MAXIMUM: usize = 4;

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'\\'
}

impl fmt::Display for Visible<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        loop {
            // Nearly all text is printable ASCII, which is written in one piece.
            let plain = rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
            let (shown, other) = rest.split_at(plain);
            out.write_str(core::str::from_utf8(shown).unwrap_or_default())?;
            let first = &other[..other.len().min(CHARACTER_MAXIMUM)];
            let Some(first) = first.utf8_chunks().next() else { return Ok(()) };
            let taken = match first.valid().chars().next() {
                Some(character) => {
                    write!(out, "{}", character.escape_default())?;
                    character.len_utf8()
                }
                None => {
                    for byte in first.invalid() {
                        write!(out, "\\x{byte:02x}")?;
                    }
                    first.invalid().len()
                }
            };
            rest = &other[taken..];
        }
    }
}

/// The same in place, for words that are compared and looked up as well: what is not printable ASCII becomes a `?`.
/// No name of the system has such characters.
pub fn plain(bytes: &mut [u8]) -> &str {
    for byte in &mut *bytes {
        if !matches!(byte, b' '..=b'~') {
            *byte = b'?';
        }
    }
    core::str::from_utf8(bytes).unwrap_or("?")
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Visible, plain};
    use std::format;
    use std::string::{String, ToString};

    #[test]
    fn plain_text_stays_as_it_is() {
        let text = "src/main.rs:7: expected `a`, found 'b' or \"c\" (~ 100 %)";
        assert_eq!(Visible::text(text).to_string(), text);
    }

    #[test]
    fn what_is_not_printable_ascii_is_escaped() {
        let shown = |bytes: &[u8]| Visible(bytes).to_string();
        assert_eq!(shown(b"\x1b[2J\x07\x7f"), r"\u{1b}[2J\u{7}\u{7f}");
        assert_eq!(
            shown("\u{9b}2J \u{db} \u{202e}\u{200d}\u{feff}é".as_bytes()),
            r"\u{9b}2J \u{db} \u{202e}\u{200d}\u{feff}\u{e9}"
        );
        assert_eq!(shown(b"\x9b2J \xc3 \xff\x00"), r"\x9b2J \xc3 \xff\u{0}");
        assert_eq!(shown(b"a\r\n\tb"), r"a\r\n\tb");
        assert_eq!(shown(br"\u{1b}"), r"\\u{1b}");
    }

    #[test]
    fn words_are_made_plain_where_they_lie() {
        assert_eq!(plain(&mut b"greeter.echo alive".to_vec()), "greeter.echo alive");
        assert_eq!(plain(&mut b"a\x1b[2J \x9b\xc3\xa9\n\x7f\0".to_vec()), "a?[2J ??????");
        assert_eq!(plain(&mut []), "");
    }

    #[test]
    fn no_character_is_shown_as_anything_that_a_terminal_obeys() {
        for character in ('\0'..=char::MAX).filter(|character| !matches!(character, ' '..='~')) {
            let text = String::from(character);
            let shown = format!("{}", Visible::text(&text));
            assert!(shown.bytes().all(|byte| byte.is_ascii_graphic()), "{}", u32::from(character));
        }
        for byte in 0x80..=0xff {
            assert_eq!(Visible(&[byte]).to_string(), format!("\\x{byte:02x}"));
        }
    }
}
