//! What is said of keys that a table lacks.

use crate::place::Place;
use crate::report::Report;

/// Keys that stand for others, which are put in.
const FILLING: [&str; 3] = ["extends", "replaces", "template"];

/// What is wrong with a table without a key. `what` is how messages call the table.
pub(crate) fn missing(what: &str, key: &str) -> String {
    format!("{what} has no `{key}`")
}

/// Takes back what a table is said to lack because a key of it is misspelt: that is said where it is written.
pub(crate) fn take_back(key: &str, table: (&str, &Place), known: &[&str], report: &mut Report) {
    let (what, place) = table;
    let lacking = known.iter().filter(|other| FILLING.contains(&key) || **other == key);
    let lacking: Vec<String> = lacking.map(|key| missing(what, key)).collect();
    report.retain(|error| !(error.place.is(place) && lacking.contains(&error.message)));
}
