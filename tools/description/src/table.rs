//! Reading typed values out of a TOML tree that knows where everything stands. In contrast to a
//! derived deserializer it goes on after an error, so that all of them can be reported at once.

use crate::arguments::Given;
use crate::missing::{missing, take_back};
use crate::names::{NameKind, list, name_fault, nearest};
use crate::place::{Located, Place};
use crate::probe::{Kind, Probe};
use crate::report::{Error, Report};
use crate::tree::{Data, Entry, Node};
use crate::units::{parse_duration, parse_size, show_duration, show_size};
use std::ops::RangeInclusive;

/// A table being read: keys are taken out one by one; what nobody took is unknown.
pub(crate) struct Table<'a> {
    what: String,
    place: Place,
    entries: Vec<&'a Entry>,
    probe: Option<&'a Probe>,
    known: Vec<&'static str>,
}

/// A value with its key.
pub(crate) struct Value<'a> {
    /// How messages call it: the key, or what it is an element of.
    pub name: String,
    /// The key, or the value itself for an element of an array.
    pub key: Place,
    /// The table of which it is a copy, or its own.
    pub table_name: &'a str,
    node: &'a Node,
}

impl<'a> Table<'a> {
    /// The top table of a file. `what` completes the phrase "a key of ...".
    pub fn top(tree: &'a Node, what: impl Into<String>) -> Table<'a> {
        Table::of(tree, tree.place.clone(), what.into())
    }

    fn of(tree: &'a Node, place: Place, what: String) -> Table<'a> {
        let entries = tree.entries().unwrap_or_default().iter().collect();
        let probe = tree.probe().inspect(|probe| probe.note(Kind::Table));
        Table { what, place, entries, probe, known: Vec::new() }
    }

    /// Where the table is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The value of `key`, if there.
    pub fn take(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.known.push(key);
        if let Some(probe) = self.probe {
            return Some(Value::new(probe.key(key)));
        }
        let index = self.entries.iter().position(|entry| entry.name == key)?;
        Some(Value::new(self.entries.remove(index)))
    }

    /// The value of `key`; an error if it is not there, with an example of what to write.
    pub fn require(
        &mut self,
        key: &'static str,
        example: &str,
        report: &mut Report,
    ) -> Option<Value<'a>> {
        let value = self.take(key);
        if let Some(probe) = value.as_ref().and_then(|value| value.node.probe()) {
            probe.require();
        }
        if value.is_none() {
            report.push(Error::new(
                &self.place,
                missing(&self.what, key),
                format!("expected the key `{key}` here"),
                format!("add for example: {example}"),
            ));
        }
        value
    }

    /// All values, for tables whose keys are names.
    pub fn take_all(&mut self) -> Vec<Value<'a>> {
        if let Some(probe) = self.probe {
            probe.note(Kind::Names);
            return vec![Value::new(probe.inner())];
        }
        std::mem::take(&mut self.entries).into_iter().map(Value::new).collect()
    }

    /// Reports the keys that nobody took.
    pub fn finish(self, report: &mut Report) {
        for Entry { name: name_text, key, .. } in &self.entries {
            let help = match nearest(name_text, self.known.iter().copied()) {
                Some(near) => {
                    take_back(near, (&self.what, &self.place), &self.known, report);
                    format!("did you mean `{near}`?")
                }
                None if self.known.is_empty() => format!("remove it; {} has no keys", self.what),
                None => format!(
                    "remove it; {} has the keys {}",
                    self.what,
                    list(self.known.iter().copied())
                ),
            };
            report.push(Error::new(
                key,
                format!("unknown key `{name_text}`"),
                format!("expected a key of {}", self.what),
                help,
            ));
        }
    }
}

impl<'a> Value<'a> {
    /// The value of an entry.
    pub fn new(entry: &'a Entry) -> Value<'a> {
        let Entry { name, key, value, copy_of } = entry;
        let table_name = copy_of.as_ref().unwrap_or(name);
        Value { name: name.clone(), key: key.clone(), table_name, node: value }
    }

    /// Where the value is.
    pub fn place(&self) -> Place {
        self.node.place.clone()
    }

    fn located<T>(&self, value: T) -> Located<T> {
        Located::new(value, self.place())
    }

    /// Reports that something else was expected.
    pub fn expected(&self, expected: &str, example: &str, report: &mut Report) {
        let found = self.node.type_name();
        report.push(Error::new(
            &self.place(),
            format!("`{}` has the wrong type", self.name),
            format!("expected {expected}, found {} {found}", article(found)),
            format!("write for example: {example}"),
        ));
    }

    /// Reports that the value is none of those that are possible here.
    pub fn invalid(&self, label: impl Into<String>, help: impl Into<String>, report: &mut Report) {
        let message = format!("bad value for `{}`", self.name);
        report.push(Error::new(&self.place(), message, label, help));
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&'a str> {
        self.node.as_text()
    }

    /// Where a key is written, if it is a table that has it.
    pub fn key_of(&self, name: &str) -> Option<&'a Place> {
        let mut entries = self.node.entries()?.iter();
        entries.find(|entry| entry.name == name).map(|entry| &entry.key)
    }

    /// The text of a key, if it is a table that has it and that is one.
    pub fn text_of(&self, name: &str) -> Option<&'a str> {
        self.node.get(name)?.as_text()
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        match self.node.probe() {
            Some(probe) => probe.form().array,
            None => matches!(self.node.data, Data::Array(_)),
        }
    }

    /// Whether it is no value, but notes how it is read.
    fn notes(&self, kind: impl FnOnce() -> Kind) -> bool {
        self.node.probe().inspect(|probe| probe.note(kind())).is_some()
    }

    /// The table, if it is one.
    pub fn as_table(&self, what: impl Into<String>) -> Option<Table<'a>> {
        let is_table = match self.node.probe() {
            Some(probe) => probe.form().table,
            None => self.node.entries().is_some(),
        };
        is_table.then(|| Table::of(self.node, self.key.clone(), what.into()))
    }

    /// A string.
    pub fn text(&self, example: &str, report: &mut Report) -> Option<Located<String>> {
        if self.notes(|| Kind::Text) {
            return Some(self.located(example.to_owned()));
        }
        match self.as_text() {
            Some(text) => Some(self.located(text.to_owned())),
            None => {
                self.expected("a string", &format!("{} = \"{example}\"", self.name), report);
                None
            }
        }
    }

    /// A string that is a name.
    pub fn name(
        &self,
        kind: NameKind,
        example: &str,
        report: &mut Report,
    ) -> Option<Located<String>> {
        let text = self.text(example, report)?;
        match name_fault(&text, kind) {
            None => Some(text),
            Some(fault) => {
                self.invalid(fault, format!("write a name such as \"{example}\""), report);
                None
            }
        }
    }

    /// The key as a name.
    pub fn key_name(
        &self,
        kind: NameKind,
        what: &str,
        example: &str,
        report: &mut Report,
    ) -> Option<Located<String>> {
        if let Some(fault) = name_fault(&self.name, kind) {
            report.push(Error::new(
                &self.key,
                format!("bad name of {what}"),
                fault,
                format!("write a name such as `{example}`"),
            ));
            return None;
        }
        Some(Located::new(self.name.clone(), self.key.clone()))
    }

    /// `true` or `false`.
    pub fn boolean(&self, report: &mut Report) -> Option<Located<bool>> {
        let value = match &self.node.data {
            Data::Boolean(value) => Some(*value),
            Data::Probe(probe) => {
                probe.note(Kind::Boolean);
                Some(true)
            }
            Data::Filled(text) => text.parse().ok(),
            _ => None,
        };
        let Some(value) = value else {
            self.expected("`true` or `false`", &format!("{} = true", self.name), report);
            return None;
        };
        Some(self.located(value))
    }

    /// A whole number in `range`.
    pub fn integer(&self, range: RangeInclusive<u64>, report: &mut Report) -> Option<Located<u64>> {
        if self.notes(|| Kind::Integer(range.clone())) {
            return Some(self.located(*range.start()));
        }
        let value = match &self.node.data {
            Data::Integer(value) => value.and_then(|value| u64::try_from(value).ok()),
            Data::Filled(text) if text.parse::<i128>().is_ok() => text.parse().ok(),
            _ => {
                let example = format!("{} = {}", self.name, range.start());
                self.expected("an integer", &example, report);
                return None;
            }
        };
        match value.filter(|value| range.contains(value)) {
            Some(value) => Some(self.located(value)),
            None => {
                let show = |value: u64| {
                    if value > 0xffff { format!("{value:#x}") } else { value.to_string() }
                };
                self.invalid(
                    match range.start() == range.end() {
                        true => format!("expected {}", show(*range.start())),
                        false => {
                            format!("expected {} to {}", show(*range.start()), show(*range.end()))
                        }
                    },
                    "write a number in this range",
                    report,
                );
                None
            }
        }
    }

    /// A size in bytes, in `range`, a multiple of `unit`.
    pub fn size(
        &self,
        range: RangeInclusive<u64>,
        unit: u64,
        report: &mut Report,
    ) -> Option<Located<u64>> {
        if self.notes(|| Kind::Size(range.clone())) {
            return Some(self.located(*range.start()));
        }
        let expected = || {
            format!(
                "expected a size from {} to {}",
                show_size(*range.start()),
                show_size(*range.end())
            )
        };
        let bytes = match &self.node.data {
            Data::Filled(text) if text.parse::<u64>().is_ok() => text.parse().ok()?,
            Data::Text(text) | Data::Filled(text) => match parse_size(text) {
                Some(bytes) => bytes,
                None => {
                    let help =
                        "write digits and K, M or G (powers of 1024), or bytes without quotes";
                    self.invalid(expected(), help, report);
                    return None;
                }
            },
            Data::Integer(_) => self.integer(0..=u64::MAX >> 1, report)?.value,
            _ => {
                self.expected("a size", &format!("{} = \"64K\"", self.name), report);
                return None;
            }
        };
        if !range.contains(&bytes) {
            self.invalid(
                format!("{}, found {}", expected(), show_size(bytes)),
                "write a size in this range",
                report,
            );
            return None;
        }
        if !bytes.is_multiple_of(unit) {
            let below = bytes / unit * unit;
            let near = if below > 0 && below >= *range.start() { below } else { below + unit };
            self.invalid(
                format!("expected a multiple of {}, found {}", show_size(unit), show_size(bytes)),
                format!("write for example: {} = \"{}\"", self.name, show_size(near)),
                report,
            );
            return None;
        }
        Some(self.located(bytes))
    }

    /// A duration in nanoseconds, in `range`.
    pub fn duration(
        &self,
        range: RangeInclusive<u64>,
        report: &mut Report,
    ) -> Option<Located<u64>> {
        if self.notes(|| Kind::Duration) {
            return Some(self.located(*range.start()));
        }
        let text = self.text("10ms", report)?;
        let value = parse_duration(&text).filter(|value| range.contains(value));
        if value.is_none() {
            self.invalid(
                format!(
                    "expected a duration from {} to {}",
                    show_duration(*range.start()),
                    show_duration(*range.end())
                ),
                "write digits and ns, us, ms or s, such as \"10ms\"",
                report,
            );
        }
        value.map(|value| self.located(value))
    }

    /// A number, a text or a boolean.
    pub fn given(&self, report: &mut Report) -> Option<Located<Given>> {
        let given = match &self.node.data {
            Data::Text(text) => Some(Given::Text(text.clone())),
            Data::Filled(text) => Some(Given::Filled(text.clone())),
            Data::Integer(value) => value.map(Given::Integer),
            Data::Boolean(value) => Some(Given::Bool(*value)),
            Data::Probe(probe) => {
                probe.note(Kind::Given);
                Some(Given::Bool(true))
            }
            _ => None,
        };
        if given.is_none() {
            self.expected(
                "a number, a text, `true` or `false`",
                &format!("{} = 1", self.name),
                report,
            );
        }
        given.map(|given| self.located(given))
    }

    /// One of several words.
    pub fn choice<T: Copy>(
        &self,
        choices: &[(&'static str, T)],
        report: &mut Report,
    ) -> Option<Located<T>> {
        if self.notes(|| Kind::Choice(choices.iter().map(|(word, _)| *word).collect())) {
            return Some(self.located(choices[0].1));
        }
        let text = self.text(choices[0].0, report)?;
        let found = choices.iter().find(|(word, _)| *word == *text);
        if found.is_none() {
            let words = choices.iter().map(|(word, _)| *word);
            let help = match nearest(&text, words.clone()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None if choices.len() == 1 => format!("write \"{}\"", choices[0].0),
                None => "write one of them".to_owned(),
            };
            self.invalid(format!("expected {}", list(words)), help, report);
        }
        found.map(|(_, value)| self.located(*value))
    }

    /// A table.
    pub fn table(&self, what: impl Into<String>, report: &mut Report) -> Option<Table<'a>> {
        if self.node.entries().is_some() || self.node.probe().is_some() {
            return Some(Table::of(self.node, self.key.clone(), what.into()));
        }
        self.expected("a table", &format!("{} = {{ ... }}", self.name), report);
        None
    }

    /// The elements of an array.
    pub fn array(&self, example: &str, report: &mut Report) -> Option<Vec<Value<'a>>> {
        if let Some(probe) = self.node.probe() {
            probe.note(Kind::Array);
            // As many as the longest that has a place for each.
            return Some(vec![Value::new(probe.inner()), Value::new(probe.inner())]);
        }
        let Data::Array(array) = &self.node.data else {
            self.expected("an array", &format!("{} = {example}", self.name), report);
            return None;
        };
        let element = |node: &'a Node| Value {
            name: self.name.clone(),
            key: node.place.clone(),
            table_name: self.table_name,
            node,
        };
        Some(array.iter().map(element).collect())
    }

    /// Strings in an array.
    pub fn texts(&self, example: &str, report: &mut Report) -> Option<Vec<Located<String>>> {
        let elements = self.array(example, report)?;
        elements
            .iter()
            .map(|element| {
                element.notes(|| Kind::Text);
                let text = element.as_text();
                if text.is_none() {
                    element.expected("a string", &format!("{} = {example}", self.name), report);
                }
                text.map(|text| element.located(text.to_owned()))
            })
            .collect()
    }

    /// Part of a string as a place; the whole string if escapes make the parts unknowable.
    pub fn part(&self, start: usize, end: usize) -> Place {
        let place = self.place();
        let quoted = self.as_text().is_some_and(|text| {
            let raw = place.text();
            raw.len() == text.len() + 2 && raw.get(1..raw.len() - 1) == Some(text)
        });
        if !quoted {
            return place;
        }
        let first = place.range().start + 1;
        Place::new(place.source(), first + start..first + end)
    }
}

/// The article of a word.
pub(crate) fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
