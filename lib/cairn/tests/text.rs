//! Text in fixed memory is cut where a character begins, and comes out in the order in which it was written.
#![forbid(unsafe_code)]

use cairn::text::{Line, Lines};
use std::fmt::Write;

#[test]
fn a_line_is_the_longest_beginning_of_whole_characters() {
    for written in
        ["", "abcdefg", "abcdefgh", "abcdefghi", "abcdefgä", "aäöüßx", "€€€", "😀😀😀", "abcdef😀"]
    {
        let mut line = Line::<8>::new();
        assert_eq!(line.write_str(written).is_err(), written.len() > 8, "{written}");
        assert_eq!(line.is_cut(), written.len() > 8, "{written}");
        let text = line.text();
        assert!(written.starts_with(text), "{text}");
        let next = written[text.len()..].chars().next();
        assert!(next.is_none_or(|next| text.len() + next.len_utf8() > 8), "{written}: {text}");
        assert_eq!(line.bytes(), text.as_bytes());
    }
}

#[test]
fn nothing_follows_what_was_cut() {
    let mut line = Line::<4>::new();
    assert!(line.write_str("abcä").is_err());
    assert!(line.write_str("d").is_err(), "there is room, but something is missing before it");
    assert_eq!(line.text(), "abc");
    line.clear();
    assert!(write!(line, "{}", 1234).is_ok());
    assert_eq!(line.text(), "1234");
    assert_eq!(Line::<4>::of(format_args!("{}{}", "ab", "cde")).text(), "abcd");
}

#[test]
fn lines_are_handed_over_whole_or_when_full() {
    let handed = |parts: &[&str]| {
        let mut handed = Vec::new();
        let mut lines = Lines::<8, _>::new(|text: &str| handed.push(text.to_owned()));
        for part in parts {
            lines.write_str(part).unwrap();
        }
        lines.flush();
        handed
    };
    assert_eq!(handed(&["a", "b\n", "c"]), ["ab\n", "c"]);
    assert_eq!(handed(&["\n\na\nb"]), ["\n", "\n", "a\n", "b"]);
    assert_eq!(handed(&["12345678", "9"]), ["12345678", "9"]);
    assert_eq!(handed(&["1234567\n", "9\n"]), ["1234567\n", "9\n"]);
    assert_eq!(handed(&["123456€89"]), ["123456", "€89"]);
    assert_eq!(handed(&["", ""]), [""; 0]);
    assert_eq!(handed(&["😀😀😀\n"]).concat(), "😀😀😀\n");
}
