//! What the portal manager says of a portal, and how a call by it is shown.

use cairn_abi::Error;
use cairn_abi::text::Visible;
use core::fmt::{Formatter, Result};

/// Argument registers.
pub const REGISTERS: usize = 8;
/// Buffers of a call: each takes two of seven registers.
pub const BUFFERS: usize = 3;
/// Bytes of a buffer that are shown.
pub const SHOWN: usize = 24;

/// What is said of a portal: its letters, server and export, method, and for whom it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portal<'text> {
    /// Of its parameters, and the number of words of its value.
    pub letters: &'text str,
    /// `SERVER.EXPORT`.
    pub export: &'text str,
    /// Its name; of what was registered at run time a number.
    pub method: &'text str,
    /// Whose call it is.
    pub client: &'text str,
}

/// A buffer of a call: its first bytes, and how long it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// What of it is shown.
    pub bytes: [u8; SHOWN],
    /// How many of these there are.
    pub count: usize,
    /// How long it is.
    pub length: u64,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A word.
    Word,
    /// Memory that the callee reads: its address, and its length.
    Read,
    /// The same of memory that the callee fills.
    Write,
    /// The portal fills it in.
    Filled,
    /// Of registered types nobody but their server knows how many words they have: nothing behind them is known.
    Unknown,
}

impl Buffer {
    /// What of it was filled: by the rule of the interfaces the value is the length; else up to the last byte that is not zero.
    pub fn filled(self, value: u64) -> Buffer {
        if value <= self.length {
            return Buffer { count: self.count.min(value as usize), length: value, ..self };
        }
        let used = self.bytes.get(..self.count).unwrap_or_default();
        let end = used.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Buffer { count: end, ..self }
    }
}

impl<'text> Portal<'text> {
    /// From a line of `PortalListing::describe`: `npcii greeter.echo add for shell`, `rpct scheduler.semaphore p semaphore 3 for shell`.
    pub fn read(line: &'text str) -> Option<Portal<'text>> {
        let (what, client) = line.split_once(" for ")?;
        let client = client.split(' ').next()?;
        let mut words = what.split(' ');
        let letters = words.next()?.get(2..)?;
        Some(Portal { letters, export: words.next()?, method: words.next()?, client })
    }

    /// Each parameter but the control word, with its register.
    pub fn parameters(&self) -> impl Iterator<Item = (usize, Parameter)> + 'text {
        let mut register = 1;
        let letters = self.letters.bytes().skip(1).filter(|letter| !letter.is_ascii_digit());
        letters.map(move |letter| {
            let (parameter, count) = match letter {
                b'i' => (Parameter::Word, 1),
                b'r' => (Parameter::Read, 2),
                b'w' => (Parameter::Write, 2),
                b'A'..=b'Z' => (Parameter::Unknown, REGISTERS),
                _ => (Parameter::Filled, 1),
            };
            let at = register;
            register += count;
            (at, parameter)
        })
    }

    /// The registers of addresses of buffers, in order, and whether the callee fills each.
    pub fn buffers(&self) -> impl Iterator<Item = (usize, bool)> + 'text {
        self.parameters()
            .take_while(|(register, _)| register + 1 < REGISTERS)
            .filter_map(|(register, parameter)| match parameter {
                Parameter::Read => Some((register, false)),
                Parameter::Write => Some((register, true)),
                _ => None,
            })
            .take(BUFFERS)
    }

    /// The number of words of its value.
    pub fn reply(&self) -> usize {
        match self.letters.bytes().last() {
            Some(number @ b'2'..=b'4') => usize::from(number - b'0'),
            _ => 1,
        }
    }

    /// The method with its arguments.
    pub fn call(
        &self,
        words: &[u64; REGISTERS],
        buffers: &[Buffer; BUFFERS],
        out: &mut Formatter<'_>,
    ) -> Result {
        write!(out, "{}(", self.method)?;
        let (mut separator, mut buffers) = ("", buffers.iter());
        for (register, parameter) in self.parameters() {
            match parameter {
                Parameter::Filled => continue,
                Parameter::Unknown => return write!(out, "{separator}..)"),
                Parameter::Word => {
                    let word = words.get(register).copied().unwrap_or(0);
                    write!(out, "{separator}{}", Word(word))?;
                }
                Parameter::Read | Parameter::Write => match buffers.next() {
                    Some(buffer) => write!(out, "{separator}{buffer}")?,
                    None => write!(out, "{separator}..")?,
                },
            }
            separator = ", ";
        }
        write!(out, ")")
    }

    /// What was answered.
    pub fn result(&self, status: i64, words: &[u64; 4], out: &mut Formatter<'_>) -> Result {
        match status {
            0 => {
                write!(out, "{}", Word(words[0]))?;
                let mut rest = words.iter().take(self.reply()).skip(1);
                rest.try_for_each(|word| write!(out, ", {}", Word(*word)))
            }
            1.. => write!(out, "its own error {status}"),
            _ => write!(out, "error {}", Error::from_status(status).name()),
        }
    }

    /// Whether it is a method of this name, or one that names the export as well; all are of no name.
    pub fn is_called(&self, name: &str) -> bool {
        name.is_empty()
            || name == self.method
            || name
                .rsplit_once('.')
                .is_some_and(|(export, method)| (export, method) == (self.export, self.method))
    }

    /// Whether it is of an export or a server.
    pub fn is_of(&self, name: &str) -> bool {
        name == self.export || self.export.split('.').next() == Some(name)
    }
}

/// A word as people read it: addresses and masks in hexadecimal.
struct Word(u64);

impl core::fmt::Display for Word {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self.0 as i64 {
            -4096..0x1_0000_0000 => write!(out, "{}", self.0 as i64),
            _ => write!(out, "{:#x}", self.0),
        }
    }
}

impl core::fmt::Display for Buffer {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let bytes = self.bytes.get(..self.count).unwrap_or_default();
        let dots = if self.length > self.count as u64 { ".." } else { "" };
        write!(out, "\"")?;
        for (position, part) in bytes.split(|byte| *byte == b'"').enumerate() {
            out.write_str(if position > 0 { "\\\"" } else { "" })?;
            write!(out, "{}", Visible(part))?;
        }
        write!(out, "\"{dots}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::{self, Display};
    use std::string::{String, ToString};
    use std::vec::Vec;

    struct Shown(Portal<'static>, [u64; 8], [Buffer; BUFFERS]);
    impl Display for Shown {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.call(&self.1, &self.2, out)
        }
    }

    struct Answered(Portal<'static>, i64);
    impl Display for Answered {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.result(self.1, &[7, 8, 9, u64::MAX], out)
        }
    }

    fn buffer(text: &[u8], length: u64) -> Buffer {
        let mut bytes = [0; SHOWN];
        bytes[..text.len()].copy_from_slice(text);
        Buffer { bytes, count: text.len(), length }
    }

    fn shown(line: &'static str) -> String {
        let buffers = [buffer(b"a\"\n", 3), buffer(b"b", 9), Buffer::default()];
        Shown(Portal::read(line).unwrap(), [9, 1, 2, 3, 4, 5, 6, 7], buffers).to_string()
    }

    #[test]
    fn what_portals_are_said_to_be() {
        for (line, expected) in [
            ("npcii greeter.echo add for shell", "add(1, 2)"),
            ("npcawi4 a.b c for d by e", "c(\"a\\\"\\n\", 4)"),
            ("npcrwr a.b c for d", "c(\"a\\\"\\n\", \"b\".., \"\")"),
            ("rpct scheduler.semaphore p semaphore 3 for x", "p()"),
            ("npciHi a.b c for d", "c(1, ..)"),
            ("npciiiiiiii a.b c for d", "c(1, 2, 3, 4, 5, 6, 7, 0)"),
        ] {
            assert_eq!(shown(line), expected);
        }
        for line in ["", "np", "x y z", "n a.b c for d", "np a.b for d", " for ", "\u{fc} for d"] {
            assert_eq!(Portal::read(line), None, "{line}");
        }
    }

    #[test]
    fn buffers_are_where_the_letters_say() {
        let of = |line| Portal::read(line).unwrap().buffers().collect::<Vec<_>>();
        assert_eq!(of("npcrw a.b c for d"), [(1, false), (3, true)]);
        assert_eq!(of("npcairw4 a.b c for d"), [(3, false), (5, true)]);
        assert_eq!(of("npcHr a.b c for d"), []);
        assert_eq!(of("npciiiiiirr a.b c for d"), [], "a pair that has no registers");
    }

    #[test]
    fn of_what_was_filled_the_value_is_the_length() {
        let of = |value| buffer(b"ab\0\0", 9).filled(value).to_string();
        assert_eq!([0, 1, 9, 10].map(of), ["\"\"", "\"a\"", "\"ab\\u{0}\\u{0}\"..", "\"ab\".."]);
        assert_eq!(Buffer::default().filled(0).to_string(), "\"\"");
    }

    #[test]
    fn results() {
        let of = |line, status| Answered(Portal::read(line).unwrap(), status).to_string();
        assert_eq!(of("npcii a.b c for d", 0), "7");
        assert_eq!(of("npcii4 a.b c for d", 0), "7, 8, 9, -1");
        assert_eq!(of("npcii a.b c for d", 3), "its own error 3");
        assert_eq!(of("npcii a.b c for d", Error::Dead.status()), "error Dead");
    }

    #[test]
    fn names() {
        let portal = Portal::read("npcii greeter.echo add for shell").unwrap();
        for name in ["", "add", "greeter.echo.add"] {
            assert!(portal.is_called(name), "{name}");
        }
        for name in ["ad", "echo.add", "greeter.echo", "greeter.other.add"] {
            assert!(!portal.is_called(name), "{name}");
        }
        assert!(portal.is_of("greeter") && portal.is_of("greeter.echo"));
        assert!(!portal.is_of("greet") && !portal.is_of("echo") && !portal.is_of(""));
    }

    #[test]
    fn words_for_people() {
        let shown = |word: u64| Word(word).to_string();
        assert_eq!(shown(u64::MAX), "-1");
        assert_eq!(shown(0x8020_0000), "2149580800");
        assert_eq!(shown(0x1_0000_0000), "0x100000000");
        assert_eq!(shown(1 << 63), "0x8000000000000000");
    }
}
