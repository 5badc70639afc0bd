//! A description's file as a TOML tree. Syntax errors are reported with advice of our own.

use crate::place::{Place, Source};
use crate::report::{Error, Report};
use crate::tree::Node;
use std::sync::Arc;
use toml::de::DeTable;

/// The tree of `source`; `None` after syntax errors, which are then reported.
pub(crate) fn parse(source: &Arc<Source>, report: &mut Report) -> Option<Node> {
    let (tree, errors) = DeTable::parse_recoverable(source.text());
    if errors.is_empty() {
        return Some(Node::of(source, tree.get_ref()));
    }
    let mut last_line = 0;
    let mut in_duplicate_table = false;
    for error in errors {
        let place = Place::new(source, error.span().unwrap_or(0..0));
        let message = error.message().lines().next().unwrap_or("not TOML");
        let duplicate = message.contains("duplicate key");
        let is_header = line_of(&place).starts_with('[');
        // After the first error of a line the parser only guesses, and the keys of a table that is
        // there twice are there twice as well.
        if place.line() == last_line || in_duplicate_table && duplicate && !is_header {
            continue;
        }
        in_duplicate_table = duplicate && is_header;
        last_line = place.line();
        let (message, advice) = match message {
            // What the parser says of an empty value leads astray.
            _ if message.contains("must be quoted") && place.range().is_empty() => {
                ("expected a value", "write a value behind the `=`")
            }
            _ => (message, advice(message)),
        };
        report.push(Error::new(&place, "the file is not valid TOML", message, advice));
    }
    None
}

fn line_of(place: &Place) -> &str {
    let text = place.source().text();
    let start = text[..place.range().start].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].trim_start()
}

fn advice(message: &str) -> &'static str {
    const CLOSE: &str = "close the text with the quote that it began with";
    let advices = [
        ("duplicate key", "a key or a table can be written once; remove or rename one of them"),
        ("string values must be quoted", "put the text in quotes: \"...\""),
        ("key with no value", "write `key = value`"),
        ("missing value", "write a value behind the `=`"),
        ("unclosed table", "close the table's name with `]`"),
        ("unclosed array", "close the array with `]`"),
        ("unclosed inline table", "close the table with `}`"),
        ("missing comma", "put a comma between the values"),
        ("basic string", CLOSE),
        ("literal string", CLOSE),
        ("missing opening quote", "put the text in quotes: \"...\""),
        ("recurs", "nest fewer arrays and tables"),
    ];
    advices
        .iter()
        .find(|(part, _)| message.contains(part))
        .map_or("see https://toml.io for the format", |(_, advice)| advice)
}
