//! Descriptions are formatted, and formatting keeps all that they say, comments too.

use crate::common::repository;
use crate::mutation::mutate;
use cairn_description::{Source, format};
use cairn_random::Random;
use std::path::{Path, PathBuf};

fn formatted(path: &Path, text: &str) -> Option<String> {
    match format(&Source::new(path.display().to_string(), text)) {
        Ok(text) => Some(text),
        Err(report) => {
            let report = report.to_string();
            assert!(report.contains("the file is not valid TOML"), "{text}\n{report}");
            None
        }
    }
}

#[test]
fn those_of_the_repository_are_formatted() {
    let is_old = |(path, text, _): &(PathBuf, String, bool)| {
        // One shows what can be written.
        !path.ends_with("good/formatting.toml") && formatted(path, text).as_ref() != Some(text)
    };
    let old = repository().into_iter().filter(is_old).map(|(path, ..)| path);
    let old: Vec<_> = old.collect();
    assert!(old.is_empty(), "run `./cairn fmt`: {old:?}");
}

/// The text with more spaces, or none, beside signs, and with more empty lines.
fn spaced(text: &str, random: &mut Random) -> String {
    let mut spaced = String::new();
    for line in text.lines() {
        let mut quote = None;
        let mut is_comment = false;
        for character in line.chars() {
            is_comment |= character == '#' && quote.is_none();
            match quote {
                None if "\"'".contains(character) => quote = Some(character),
                Some(open) if open == character => quote = None,
                _ => {}
            }
            let spaces = " \t".repeat(random.index(2));
            match character {
                '=' | ',' | '[' | ']' | '{' | '}' if quote.is_none() && !is_comment => {
                    // `[[` is one sign.
                    let before = if spaced.ends_with(['[', ']']) { "" } else { &spaces };
                    spaced += before;
                    spaced.push(character);
                    spaced += if "[]".contains(character) { "" } else { &spaces };
                }
                _ => spaced.push(character),
            }
        }
        spaced += &"\n".repeat(1 + random.index(2) * usize::from(line.is_empty()));
    }
    spaced
}

#[test]
fn formatting_keeps_what_is_said_and_is_done_once() {
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    let mut count = 0;
    for (path, text, _) in repository() {
        let once = formatted(&path, &text).expect("it is good");
        assert_eq!(formatted(&path, &spaced(&text, &mut random)), Some(once), "{}", path.display());
        for _ in 0..20 {
            let text = spaced(&mutate(&text, &mut random), &mut random);
            // What it says is the same, or there would be a report of it.
            let Some(once) = formatted(&path, &text) else { continue };
            count += 1;
            assert_eq!(formatted(&path, &once).as_ref(), Some(&once), "{text}");
            let comments = |text: &str| text.matches('#').count();
            assert_eq!(comments(&once), comments(&text), "{text}\n{once}");
            assert!(
                !once.lines().any(|line| line.ends_with(' '))
                    || text.contains("'''")
                    || text.contains("\"\"\""),
                "{once}"
            );
        }
    }
    assert!(count > 1000, "only {count} were good");
}
