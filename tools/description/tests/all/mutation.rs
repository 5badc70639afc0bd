//! Descriptions broken at random: nothing panics, and every error says where.

use crate::common::{check_any, descriptions};
use cairn_random::Random;

/// The beginning of a character of the text.
fn boundary(random: &mut Random, text: &str) -> usize {
    let mut at = random.index(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

const FRAGMENTS: [&str; 30] = [
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "\r",
    "\t",
    "\\",
    "#",
    "\u{0}",
    "ü",
    "\u{9b}2J",
    "\u{202e}",
    "🦀",
    "-1",
    "99999999999999999999999",
    "\"99999999999G\"",
    "0x",
    "1e400",
    "true",
    "\"*\"",
    "[[",
    "\"\"",
    "1979-05-27",
    "name",
];

/// The text with a few things broken.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.index(3) {
        let at = boundary(random, &text);
        match random.index(5) {
            0 => {
                let mut end = (at + random.index(40)).min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text.replace_range(at..end, "");
            }
            1 => text.insert_str(at, FRAGMENTS[random.index(FRAGMENTS.len())]),
            2 => {
                // A line twice, or in another place.
                let lines: Vec<&str> = text.lines().collect();
                let line = lines[random.index(lines.len())].to_owned();
                let mut lines: Vec<&str> = lines;
                lines.insert(random.index(lines.len()), &line);
                text = lines.join("\n");
            }
            3 => {
                // A value replaced by another of the same text.
                let values: Vec<(usize, &str)> = text
                    .lines()
                    .filter_map(|line| line.split_once(" = "))
                    .map(|(_, value)| (value.as_ptr() as usize - text.as_ptr() as usize, value))
                    .collect();
                if values.is_empty() {
                    continue;
                }
                let (start, old) = values[random.index(values.len())];
                let new = match random.index(2) {
                    0 => values[random.index(values.len())].1,
                    _ => FRAGMENTS[random.index(FRAGMENTS.len())],
                };
                let (range, new) = (start..start + old.len(), new.to_owned());
                text.replace_range(range, &new);
            }
            _ => text.truncate(at),
        }
        if text.is_empty() {
            break;
        }
    }
    text
}

#[test]
fn broken_descriptions_never_panic_and_errors_have_places() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut paths = descriptions("good");
    paths.extend(descriptions("bad"));
    let mut refused = 0;
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let original = std::fs::read_to_string(path).expect("readable");
        for _ in 0..40 {
            let text = mutate(&original, &mut random);
            let path = format!("bad/{name}");
            let Err(report) = check_any(&path, &text) else {
                continue;
            };
            refused += 1;
            assert!(!report.is_empty());
            let rendered = report.to_string();
            let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!rendered.chars().any(obeyed), "{rendered:?}");
            for error in report.errors() {
                let place = &error.place;
                assert!(place.line() >= 1 && place.column() >= 1);
                assert!(place.line() <= place.source().text().lines().count() + 1);
                assert!(!error.label.is_empty() && !error.help.is_empty(), "{error:?}");
                let location = format!("{}:{}:", place.path(), place.line());
                assert!(rendered.contains(&location), "no `{location}` in\n{rendered}\nof\n{text}");
            }
            report.render(true);
        }
    }
    assert!(refused > 1000, "only {refused} descriptions were refused");
}
