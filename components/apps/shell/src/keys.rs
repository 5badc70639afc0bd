//! From a terminal's bytes to keys: control characters, and the escape sequences of ECMA-48 and of
//! the VT220's keypad, which every terminal sends today.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printing character.
    Character(u8),
    /// Return, or the line feed of a pasted text.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Control and a letter (small).
    Control(u8),
    /// Something that no key of the editor's sends.
    Unknown,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Ground,
    /// After a carriage return: a line feed belongs to it.
    Return,
    /// After ESC.
    Escape,
    /// After ESC [, with the number that has come so far.
    Sequence(u8),
    /// After ESC O.
    Shifted,
}

/// Puts bytes together.
#[derive(Default)]
pub struct Decoder {
    state: State,
}

const ESCAPE: u8 = 0x1b;

impl Decoder {
    /// Takes a byte; the key that it completes.
    pub fn take(&mut self, byte: u8) -> Option<Key> {
        match core::mem::take(&mut self.state) {
            State::Return if byte == b'\n' => None,
            State::Ground | State::Return => self.plain(byte),
            State::Escape => {
                self.state = match byte {
                    b'[' => State::Sequence(0),
                    b'O' => State::Shifted,
                    // Escape alone does nothing.
                    _ => return self.plain(byte),
                };
                None
            }
            State::Sequence(number) => match byte {
                b'0'..=b'9' => {
                    self.state =
                        State::Sequence(number.saturating_mul(10).saturating_add(byte - b'0'));
                    None
                }
                // Parameters behind the first are modifiers.
                b';' => {
                    self.state = State::Sequence(number);
                    None
                }
                b'~' => Some(match number {
                    1 | 7 => Key::Home,
                    3 => Key::Delete,
                    4 | 8 => Key::End,
                    _ => Key::Unknown,
                }),
                0x40..=0x7e => Some(letter(byte)),
                _ => self.plain(byte),
            },
            State::Shifted => Some(letter(byte)),
        }
    }

    fn plain(&mut self, byte: u8) -> Option<Key> {
        Some(match byte {
            ESCAPE => {
                self.state = State::Escape;
                return None;
            }
            b'\r' => {
                self.state = State::Return;
                Key::Enter
            }
            b'\n' => Key::Enter,
            b'\t' => Key::Tab,
            0x08 | 0x7f => Key::Backspace,
            b' '..=b'~' => Key::Character(byte),
            1..=26 => Key::Control(byte - 1 + b'a'),
            _ => Key::Unknown,
        })
    }
}

fn letter(byte: u8) -> Key {
    match byte {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        _ => Key::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Key};
    use std::vec::Vec;

    fn keys(bytes: &str) -> Vec<Key> {
        let mut decoder = Decoder::default();
        bytes.bytes().filter_map(|byte| decoder.take(byte)).collect()
    }

    #[test]
    fn characters_and_control_characters() {
        assert_eq!(keys("aZ~"), [Key::Character(b'a'), Key::Character(b'Z'), Key::Character(b'~')]);
        assert_eq!(
            keys("\x01\x0c\t\x08\x7f"),
            [Key::Control(b'a'), Key::Control(b'l'), Key::Tab, Key::Backspace, Key::Backspace]
        );
        assert_eq!(keys("\0\u{e9}"), [Key::Unknown; 3]);
    }

    #[test]
    fn a_line_ends_once_whatever_ends_it() {
        assert_eq!(keys("\r"), [Key::Enter]);
        assert_eq!(keys("\n\n"), [Key::Enter, Key::Enter]);
        assert_eq!(keys("\r\na"), [Key::Enter, Key::Character(b'a')]);
        assert_eq!(keys("\r\r\n"), [Key::Enter, Key::Enter]);
    }

    #[test]
    fn sequences() {
        assert_eq!(keys("\x1b[A\x1b[B\x1b[C\x1b[D"), [Key::Up, Key::Down, Key::Right, Key::Left]);
        assert_eq!(
            keys("\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[3~"),
            [Key::Home, Key::End, Key::Home, Key::End, Key::Delete]
        );
        assert_eq!(keys("\x1b[1;5C\x1b[15~"), [Key::Right, Key::Unknown]);
    }

    #[test]
    fn a_broken_sequence_costs_itself_only() {
        assert_eq!(
            keys("\x1bx\x1b[\x01y"),
            [Key::Character(b'x'), Key::Control(b'a'), Key::Character(b'y')]
        );
        assert_eq!(keys("\x1b[9999999999Az"), [Key::Up, Key::Character(b'z')]);
        assert_eq!(keys("\x1b[259~"), [Key::Unknown]);
    }
}
