//! A description's file as a TOML tree. Syntax errors are reported with advice of our own.

use crate::place::{Place, Source};
use crate::report::{Error, Report};
use crate::table::Table;
use std::sync::Arc;
use toml::Spanned;
use toml::de::DeTable;

/// The tree of `source`; `None` after syntax errors, which are then reported.
pub(crate) fn parse<'a>(
    source: &'a Arc<Source>,
    report: &mut Report,
) -> Option<Spanned<DeTable<'a>>> {
    let (tree, errors) = DeTable::parse_recoverable(source.text());
    if errors.is_empty() {
        return Some(tree);
    }
    let mut last_line = 0;
    for error in errors {
        let place = Place::new(source, error.span().unwrap_or(0..0));
        // After the first error of a line the parser only guesses.
        if place.line() == last_line {
            continue;
        }
        last_line = place.line();
        let message = error.message().lines().next().unwrap_or("not TOML");
        report.push(Error::new(
            &place,
            "the file is not valid TOML",
            message,
            advice(message),
        ));
    }
    None
}

fn advice(message: &str) -> &'static str {
    let advices = [
        (
            "duplicate key",
            "a key or a table can be written once; remove or rename one of them",
        ),
        (
            "string values must be quoted",
            "put the text in quotes: \"...\"",
        ),
        ("key with no value", "write `key = value`"),
        ("missing value", "write a value behind the `=`"),
        ("unclosed table", "close the table's name with `]`"),
        ("unclosed array", "close the array with `]`"),
        ("unclosed inline table", "close the table with `}`"),
        ("missing comma", "put a comma between the values"),
        ("quote", "close the text with the quote that it began with"),
        ("recursion", "nest fewer arrays and tables"),
    ];
    advices
        .iter()
        .find(|(part, _)| message.contains(part))
        .map_or("see https://toml.io for the format", |(_, advice)| advice)
}

/// The tree's top table.
pub(crate) fn top<'a>(
    source: &'a Arc<Source>,
    tree: &'a Spanned<DeTable<'a>>,
    what: &str,
) -> Table<'a> {
    Table::new(source, tree.get_ref(), Place::new(source, 0..0), what)
}
