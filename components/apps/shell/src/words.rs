//! From a line to words, and from words to numbers.

use heapless::{String, Vec};

/// Most words of a line.
pub const WORDS: usize = 16;
/// Longest word.
pub const WORD: usize = crate::history::LINE;

/// A word.
pub type Word = String<WORD>;
/// The words of a line.
pub type Words = Vec<Word, WORDS>;

/// Why a line or a word is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A quote is not closed.
    Open,
    /// A backslash in quotes stands before something that it does not know.
    Escape,
    /// More words than a line has.
    TooMany,
    /// Not a number.
    Number,
    /// A number that does not fit into a word of 64 bits.
    Large,
}

impl Mistake {
    /// For people.
    pub const fn text(self) -> &'static str {
        match self {
            Mistake::Open => "a quote is not closed: end the text with \"",
            Mistake::Escape => "after \\ comes n, t, \\ or \"",
            Mistake::TooMany => "more than 16 words",
            Mistake::Number => "not a number: write 42, -1, 0x2a, true or false",
            Mistake::Large => "the number does not fit into 64 bits",
        }
    }
}

/// The words of `line`: separated by spaces, or in quotes, where `\n`, `\t`, `\\` and `\"` stand for
/// a line feed, a tab, a backslash and a quote.
pub fn split(line: &str) -> Result<Words, Mistake> {
    let mut words = Words::new();
    let mut rest = line.chars().peekable();
    loop {
        while rest.next_if(|character| character.is_whitespace()).is_some() {}
        let Some(first) = rest.peek() else { return Ok(words) };
        let mut word = Word::new();
        // A word is never longer than its line, so every character has room.
        if *first == '"' {
            rest.next();
            loop {
                let character = match rest.next().ok_or(Mistake::Open)? {
                    '"' => break,
                    '\\' => match rest.next().ok_or(Mistake::Open)? {
                        'n' => '\n',
                        't' => '\t',
                        escaped @ ('\\' | '"') => escaped,
                        _ => return Err(Mistake::Escape),
                    },
                    character => character,
                };
                let _ = word.push(character);
            }
        } else {
            while let Some(character) = rest.next_if(|character| !character.is_whitespace()) {
                let _ = word.push(character);
            }
        }
        words.push(word).map_err(|_| Mistake::TooMany)?;
    }
}

/// The number that `word` says: decimal, hexadecimal, negative (as two's complement), or a boolean.
pub fn number(word: &str) -> Result<u64, Mistake> {
    match word {
        "true" => return Ok(1),
        "false" => return Ok(0),
        _ => {}
    }
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(Mistake::Number);
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| Mistake::Large)?;
    match negative {
        false => Ok(value),
        true if value <= 1 << 63 => Ok(value.wrapping_neg()),
        true => Err(Mistake::Large),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mistake, number, split};
    use std::vec::Vec;

    fn words(line: &str) -> Result<Vec<std::string::String>, Mistake> {
        Ok(split(line)?.iter().map(|word| word.as_str().into()).collect())
    }

    #[test]
    fn words_and_quotes() {
        assert_eq!(words("").unwrap(), [""; 0]);
        assert_eq!(words("  call  a.b\tadd 2 ").unwrap(), ["call", "a.b", "add", "2"]);
        assert_eq!(words(r#"say "good \"day\"\n" """#).unwrap(), ["say", "good \"day\"\n", ""]);
        assert_eq!(words(r#"a"b"#).unwrap(), ["a\"b"]);
        assert_eq!(words(r#"say "é ü""#).unwrap(), ["say", "é ü"]);
    }

    #[test]
    fn mistakes_in_lines() {
        assert_eq!(words(r#"say "good"#), Err(Mistake::Open));
        assert_eq!(words("say \"good\\"), Err(Mistake::Open));
        assert_eq!(words(r#"say "\q""#), Err(Mistake::Escape));
        assert_eq!(words(&"x ".repeat(16)).unwrap().len(), 16);
        assert_eq!(words(&"x ".repeat(17)), Err(Mistake::TooMany));
    }

    #[test]
    fn numbers() {
        assert_eq!(number("42"), Ok(42));
        assert_eq!(number("0x2A"), Ok(42));
        assert_eq!(number("-1"), Ok(u64::MAX));
        assert_eq!(number("-0x8000000000000000"), Ok(1 << 63));
        assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
        assert_eq!((number("true"), number("false")), (Ok(1), Ok(0)));
        for word in ["", "-", "0x", "x", "4 2", "+4", "--4", "1e3", "0x-1"] {
            assert_eq!(number(word), Err(Mistake::Number), "{word}");
        }
        for word in ["18446744073709551616", "-9223372036854775809"] {
            assert_eq!(number(word), Err(Mistake::Large), "{word}");
        }
    }
}
