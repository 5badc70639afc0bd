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
    /// What words of it mean: its own errors, `1=NAME,2=NAME`, then of parameters, by the letter's place, `3:0=NAME` or `4:u8`.
    pub meanings: &'text str,
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
    /// The word at this position is nothing that the letter at this place takes.
    Meaning(usize, usize),
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
        let meanings = words.next().unwrap_or("");
        words.next().is_none().then_some(Method { name, letters, value, meanings })
    }

    /// From a portal's description: specification, server, method. What kind its value has is not known.
    pub fn of_portal(text: &'text str) -> Option<Self> {
        let mut words = text.split(' ');
        let (specification, _, name) = (words.next()?, words.next()?, words.next()?);
        // Stack and state come before the letters.
        let letters = specification.get(2..).filter(|letters| letters.starts_with('c'))?;
        Some(Method { name, letters, value: VALUE_UNSIGNED, meanings: "" })
    }

    /// The letters but the control word's, and those of the place for an object, each with its place.
    fn parameters(&self) -> impl Iterator<Item = (usize, char)> + 'text {
        let words_of_reply = |(_, letter): &(usize, char)| !letter.is_ascii_digit();
        let skipped = if self.value == VALUE_OBJECT { 3 } else { 1 };
        self.letters.chars().enumerate().skip(skipped).take_while(words_of_reply)
    }

    /// What the word of the letter at a place means: variants, each `CODE=NAME`, or the type of an integer.
    fn meanings_of(&self, place: usize) -> impl Iterator<Item = &'text str> + Clone {
        let entries = self.meanings.split(',').filter_map(|entry| entry.split_once(':'));
        entries.filter(move |(of, _)| of.parse() == Ok(place)).map(|(_, meaning)| meaning)
    }

    /// The number that a word stands for at a letter's place; `position` is the word's.
    fn number(&self, word: &str, position: usize, place: usize) -> Result<u64, Refusal> {
        let refusal = Refusal::Meaning(position, place);
        let mut is_enum = false;
        let read = number(word);
        for meaning in self.meanings_of(place) {
            let Some((code, name)) = meaning.split_once('=') else {
                let value = read.map_err(|mistake| Refusal::Number(position, mistake))?;
                return if fits(value, meaning) { Ok(value) } else { Err(refusal) };
            };
            is_enum = true;
            let code = code.parse::<i64>().unwrap_or_default() as u64;
            if read == Ok(code) || name.eq_ignore_ascii_case(word) {
                return Ok(code);
            }
        }
        match is_enum {
            true => Err(refusal),
            false => read.map_err(|mistake| Refusal::Number(position, mistake)),
        }
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
        let is_said = |(_, letter): &(usize, char)| matches!(letter, 'i' | 'r');
        let expected = self.parameters().filter(is_said).count();
        if words.len() != expected {
            return Err(Refusal::Count(expected));
        }
        let mut arguments = Vec::new();
        let mut next = words.iter().enumerate();
        for (place, letter) in self.parameters() {
            let argument = match letter {
                'i' | 'r' => {
                    let (position, word) = next.next().ok_or(Refusal::Count(expected))?;
                    match letter {
                        'r' => Argument::Text(position),
                        _ => Argument::Number(self.number(word, position, place)?),
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

/// Whether a word is an integer of a type.
fn fits(word: u64, name: &str) -> bool {
    let signed = |bits: u32| matches!((word as i64) >> (bits - 1), 0 | -1);
    match name {
        "bool" => word <= 1,
        "u8" => word <= u8::MAX.into(),
        "u16" => word <= u16::MAX.into(),
        "u32" => word <= u32::MAX.into(),
        "i8" => signed(8),
        "i16" => signed(16),
        "i32" => signed(32),
        _ => true,
    }
}

/// What is expected as the word of the letter at a place: names of an enum's, or a number.
pub struct Expected<'a, 'text>(pub &'a Method<'text>, pub usize);

impl fmt::Display for Expected<'_, '_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Expected(method, place) = *self;
        let mut meanings = method.meanings_of(place).peekable();
        if meanings.peek().is_none() {
            return out.write_str("NUMBER");
        }
        for (count, meaning) in meanings.enumerate() {
            out.write_str(if count > 0 { "|" } else { "" })?;
            match meaning.split_once('=') {
                Some((_, name)) => out.write_str(name)?,
                None if meaning == "bool" => out.write_str("true|false")?,
                None => write!(out, "NUMBER:{meaning}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Method<'_> {
    /// As one types it.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name)?;
        for (place, letter) in self.parameters() {
            match letter {
                'i' => write!(out, " {}", Expected(self, place))?,
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
            Method { name: "add", letters: "cii", value: 1, meanings: "" }
        );
        assert_eq!(method("lock cta 0 1=OwnerEnded").meanings, "1=OwnerEnded");
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
    fn words_may_be_what_enums_call_their_numbers() {
        use Argument::*;
        let set = "set carii 0 1=Late,3:0=Slow,3:5=VeryFast,3:-1=Off,4:u8";
        assert_eq!(format!("{}", method(set)), "set \"TEXT\" Slow|VeryFast|Off NUMBER:u8");
        let words = |line| arguments(set, line);
        assert_eq!(words("a veryfast 255").unwrap(), [Skip, Text(0), Number(5), Number(255)]);
        assert_eq!(words("a Off 0").unwrap()[2], Number(u64::MAX));
        assert_eq!(words("a 5 0").unwrap()[2], Number(5));
        assert_eq!(words("a 4 0"), Err(Refusal::Meaning(1, 3)));
        assert_eq!(words("a fast 0"), Err(Refusal::Meaning(1, 3)));
        assert_eq!(words("a Slow 256"), Err(Refusal::Meaning(2, 4)));
        assert_eq!(words("a Slow x"), Err(Refusal::Number(2, Mistake::Number)));
        assert_eq!(format!("{}", Expected(&method(set), 4)), "NUMBER:u8");
        assert_eq!(format!("{}", method("on ci 0 1:bool")), "on true|false");
        for (number, fits) in [("127", true), ("-128", true), ("128", false), ("-129", false)] {
            assert_eq!(arguments("to ci 0 1:i8", number).is_ok(), fits, "{number}");
        }
        let failure = format!("{}", Failure(5, "1=Late,3:5=VeryFast"));
        assert_eq!(failure, "the method's own error 5, whose name nobody says");
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
