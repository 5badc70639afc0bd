//! Methods that are known by their letters only: what to pass, and how to show what comes back.

use crate::words::{Mistake, Word, number};
use cairn_abi::Error;
use cairn_abi::descriptor::{
    VALUE_BOOL, VALUE_NONE, VALUE_OBJECT, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_WORDS,
};
use cairn_abi::text::Visible;
use core::fmt::{self, Write};
use heapless::Vec;

/// Argument registers, the control word apart.
const ARGUMENTS: usize = 7;

/// What a method takes and answers, as `Names::describe_method` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method<'text> {
    /// Its name.
    pub name: &'text str,
    /// Its parameter letters; the first stands for the control word.
    pub letters: &'text str,
    /// Kind of its value.
    pub value: u32,
    /// Its own errors, as `1=NAME,2=NAME`.
    pub errors: &'text str,
}

/// One argument to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number.
    Number(u64),
    /// The text of the word at this position.
    Text(usize),
    /// A buffer, to be shown afterwards.
    Buffer,
    /// Filled in by the portal.
    Skip,
}

/// What to pass to a method.
pub type Arguments = Vec<Argument, ARGUMENTS>;

/// Why the words are not the method's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// So many words are expected.
    Count(usize),
    /// The word at this position is no number.
    Number(usize, Mistake),
    /// A letter that only the method's own proxy knows.
    Letter(char),
    /// The method makes an object, for programs that know its interface.
    Object,
}

impl<'text> Method<'text> {
    /// Reads a description.
    pub fn parse(text: &'text str) -> Option<Self> {
        let mut words = text.split(' ');
        let (name, letters) = (words.next()?, words.next()?);
        let value = words.next()?.parse().ok()?;
        let errors = words.next().unwrap_or("");
        words.next().is_none().then_some(Method { name, letters, value, errors })
    }

    /// From a portal's description: specification, server, method. What kind its value has is not known.
    pub fn of_portal(text: &'text str) -> Option<Self> {
        let mut words = text.split(' ');
        let (specification, _, name) = (words.next()?, words.next()?, words.next()?);
        // Stack and state come before the letters.
        let letters = specification.get(2..).filter(|letters| letters.starts_with('c'))?;
        Some(Method { name, letters, value: VALUE_UNSIGNED, errors: "" })
    }

    /// The letters but the control word's, and those of the place for an object.
    fn parameters(&self) -> impl Iterator<Item = char> + 'text {
        let words_of_reply = |letter: &char| !letter.is_ascii_digit();
        let skipped = if self.value == VALUE_OBJECT { 3 } else { 1 };
        self.letters.chars().skip(skipped).take_while(words_of_reply)
    }

    /// Of the words of a reply those that are the value.
    pub fn reply<'words>(&self, words: &'words [u64]) -> &'words [u64] {
        let last = self.letters.chars().last().and_then(|letter| letter.to_digit(10));
        words.get(..last.unwrap_or(1) as usize).unwrap_or_default()
    }

    /// What to pass, from the words behind the method's name.
    pub fn arguments(&self, words: &[Word]) -> Result<Arguments, Refusal> {
        if self.value == VALUE_OBJECT {
            return Err(Refusal::Object);
        }
        let expected = self.parameters().filter(|letter| matches!(letter, 'i' | 'r')).count();
        if words.len() != expected {
            return Err(Refusal::Count(expected));
        }
        let mut arguments = Vec::new();
        let mut next = words.iter().enumerate();
        for letter in self.parameters() {
            let argument = match letter {
                'i' | 'r' => {
                    let (position, word) = next.next().ok_or(Refusal::Count(expected))?;
                    match letter {
                        'r' => Argument::Text(position),
                        _ => Argument::Number(
                            number(word).map_err(|mistake| Refusal::Number(position, mistake))?,
                        ),
                    }
                }
                'w' => Argument::Buffer,
                '=' | 'a' | 't' | 'h' => Argument::Skip,
                other => return Err(Refusal::Letter(other)),
            };
            arguments.push(argument).map_err(|_| Refusal::Letter(letter))?;
        }
        Ok(arguments)
    }
}

impl fmt::Display for Method<'_> {
    /// As one types it.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name)?;
        for letter in self.parameters() {
            match letter {
                'i' => out.write_str(" NUMBER")?,
                'r' => out.write_str(" \"TEXT\"")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The words of a value of a kind, as people read it.
pub struct Value<'words>(pub u32, pub &'words [u64]);

impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        for (position, word) in self.1.iter().enumerate() {
            out.write_str(if position > 0 { ", " } else { "" })?;
            match self.0 {
                VALUE_NONE => out.write_str("ok"),
                VALUE_BOOL => write!(out, "{}", *word != 0),
                VALUE_SIGNED => write!(out, "{}", *word as i64),
                VALUE_UNSIGNED | VALUE_WORDS if *word < 10 => write!(out, "{word}"),
                VALUE_UNSIGNED | VALUE_WORDS => write!(out, "{word} ({word:#x})"),
                _ => write!(out, "{word:#x} (of unknown kind)"),
            }?;
        }
        Ok(())
    }
}

/// Why a call failed, from its status and the method's own errors.
pub struct Failure<'text>(pub i64, pub &'text str);

impl Failure<'_> {
    fn name(&self) -> Option<&str> {
        let mut names = self.1.split(',').filter_map(|one| one.split_once('='));
        names.find(|(code, _)| code.parse() == Ok(self.0)).map(|(_, name)| name)
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            code @ 1.. => match self.name() {
                Some(name) => write!(out, "{name}, the method's own error {code}"),
                None => write!(out, "the method's own error {code}, whose name nobody says"),
            },
            status => match Error::from_status(status) {
                Error::Unknown => write!(out, "unknown status {status}"),
                error => out.write_str(error.text()),
            },
        }
    }
}

/// A buffer as text in quotes; what does not print is escaped.
pub struct Quoted<'bytes>(pub &'bytes [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_char('"')?;
        for (position, part) in self.0.split(|byte| *byte == b'"').enumerate() {
            out.write_str(if position > 0 { "\\\"" } else { "" })?;
            write!(out, "{}", Visible(part))?;
        }
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::split;
    use std::format;

    fn method(text: &str) -> Method<'_> {
        Method::parse(text).unwrap()
    }

    fn arguments(text: &str, line: &str) -> Result<std::vec::Vec<Argument>, Refusal> {
        method(text)
            .arguments(&split(line).unwrap())
            .map(|arguments| arguments.iter().copied().collect())
    }

    #[test]
    fn methods_of_portals() {
        let method = Method::of_portal("npcir gate.treasure 0").unwrap();
        assert_eq!((method.name, method.letters), ("0", "cir"));
        assert_eq!(format!("{method}"), "0 NUMBER \"TEXT\"");
        let method = Method::of_portal("rpct scheduler.semaphore v semaphore 2").unwrap();
        assert_eq!((method.name, method.letters), ("v", "ct"));
        for bad in ["", "npc", "npc x.y", "short-circuit nucleus wait", "np x.y 0"] {
            assert_eq!(Method::of_portal(bad), None, "{bad}");
        }
    }

    #[test]
    fn descriptions() {
        assert_eq!(
            method("add cii 1"),
            Method { name: "add", letters: "cii", value: 1, errors: "" }
        );
        assert_eq!(method("lock cta 0 1=OwnerEnded").errors, "1=OwnerEnded");
        for text in ["", "add", "add cii", "add cii x", "add cii 1 2 3"] {
            assert_eq!(Method::parse(text), None, "{text}");
        }
        assert_eq!(format!("{}", method("open cari 1")), "open \"TEXT\" NUMBER");
        assert_eq!(format!("{}", method("fill cw 1")), "fill");
        assert_eq!(format!("{}", method("usage ci2 5")), "usage NUMBER");
        for (text, words) in [("c", 1), ("ci", 1), ("ci2", 2), ("c4", 4), ("c9", 0)] {
            assert_eq!(method(&format!("usage {text} 5")).reply(&[7; 4]).len(), words, "{text}");
        }
    }

    #[test]
    fn words_become_arguments() {
        use Argument::*;
        assert_eq!(arguments("add cii 1", "2 0x3").unwrap(), [Number(2), Number(3)]);
        assert_eq!(
            arguments("open carit 1", "name -1").unwrap(),
            [Skip, Text(0), Number(u64::MAX), Skip]
        );
        assert_eq!(arguments("timer caii 4", "5"), Err(Refusal::Object));
        assert_eq!(format!("{}", method("timer caii 4")), "timer NUMBER");
        assert_eq!(arguments("fill cw 1", "").unwrap(), [Buffer]);
        assert_eq!(arguments("list ciw 1", "0").unwrap(), [Number(0), Buffer]);
    }

    #[test]
    fn words_that_are_no_arguments() {
        assert_eq!(arguments("add cii 1", "2"), Err(Refusal::Count(2)));
        assert_eq!(arguments("add cii 1", "2 3 4"), Err(Refusal::Count(2)));
        assert_eq!(arguments("add cii 1", "2 x"), Err(Refusal::Number(1, Mistake::Number)));
        assert_eq!(arguments("map cq 1", ""), Err(Refusal::Letter('q')));
        assert_eq!(arguments("many ctttttttt 1", ""), Err(Refusal::Letter('t')));
    }

    #[test]
    fn values_and_errors_for_people() {
        assert_eq!(format!("{}", Value(VALUE_NONE, &[7])), "ok");
        assert_eq!(format!("{}", Value(VALUE_UNSIGNED, &[5])), "5");
        assert_eq!(format!("{}", Value(VALUE_UNSIGNED, &[42])), "42 (0x2a)");
        assert_eq!(format!("{}", Value(VALUE_SIGNED, &[u64::MAX])), "-1");
        assert_eq!(format!("{}", Value(VALUE_BOOL, &[1])), "true");
        assert_eq!(format!("{}", Value(VALUE_WORDS, &[3, 16])), "3, 16 (0x10)");
        let failure = |status| format!("{}", Failure(status, "1=Late,20=Lost"));
        assert_eq!(failure(-3), "the callee died");
        assert_eq!(failure(20), "Lost, the method's own error 20");
        assert_eq!(failure(2), "the method's own error 2, whose name nobody says");
        assert_eq!(failure(-1234), "unknown status -1234");
        assert_eq!(
            format!("{}", Quoted(b"a\"\\\n\x01\xff\xc3\xa9")),
            r#""a\"\\\n\u{1}\xff\u{e9}""#
        );
    }
}
