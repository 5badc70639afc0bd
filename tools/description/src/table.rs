//! Reading typed values out of a TOML tree that knows where everything stands. In contrast to a
//! derived deserializer it goes on after an error, so that all of them can be reported at once.
//!
//! A tree can lie over others, those of the descriptions that it extends: a key that several have is read
//! from the uppermost, but of tables all keys are there.

use crate::arguments::Given;
use crate::names::{NameKind, list, name_fault, nearest};
use crate::place::{Located, Place, Source};
use crate::report::{Error, Report};
use crate::units::{parse_duration, parse_size, show_duration, show_size};
use std::ops::RangeInclusive;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value with the file in which it is.
type Sourced<'a> = (&'a Arc<Source>, &'a Spanned<DeValue<'a>>);

/// A key of a table, with what each of the trees has behind it, the uppermost last.
struct Entry<'a> {
    name: &'a str,
    key: Place,
    values: Vec<Sourced<'a>>,
}

/// A table being read: keys are taken out one by one; what nobody took is unknown.
pub(crate) struct Table<'a> {
    what: String,
    place: Place,
    entries: Vec<Entry<'a>>,
    known: Vec<&'static str>,
}

/// A value with its key.
pub(crate) struct Value<'a> {
    source: &'a Arc<Source>,
    /// How messages call it: the key, or what it is an element of.
    pub name: String,
    /// The key, or the value itself for an element of an array.
    pub key: Place,
    value: &'a Spanned<DeValue<'a>>,
    /// What lies below it, the lowest first.
    below: Vec<Sourced<'a>>,
}

impl<'a> Table<'a> {
    /// `what` completes the phrase "a key of ...". The keys of the lowest table come first, then those that
    /// each further one adds, in the order in which they are written.
    pub fn new(
        tables: impl IntoIterator<Item = (&'a Arc<Source>, &'a DeTable<'a>)>,
        place: Place,
        what: impl Into<String>,
    ) -> Table<'a> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for (source, table) in tables {
            let mut written: Vec<_> = table.iter().collect();
            written.sort_by_key(|(key, _)| key.span().start);
            for (key, value) in written {
                let (name, place) = (key.get_ref().as_ref(), Place::new(source, key.span()));
                match entries.iter_mut().find(|entry| entry.name == name) {
                    Some(entry) => {
                        entry.key = place;
                        entry.values.push((source, value));
                    }
                    None => {
                        entries.push(Entry { name, key: place, values: vec![(source, value)] });
                    }
                }
            }
        }
        Table { what: what.into(), place, entries, known: Vec::new() }
    }

    /// Forgets the values that a key has in other files.
    pub fn drop_inherited(&mut self, key: &str, own: &Arc<Source>) {
        for entry in self.entries.iter_mut().filter(|entry| entry.name == key) {
            entry.values.retain(|(source, _)| Arc::ptr_eq(source, own));
        }
        self.entries.retain(|entry| !entry.values.is_empty());
    }

    /// Where the table is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The value of `key`, if there.
    pub fn take(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.known.push(key);
        let index = self.entries.iter().position(|entry| entry.name == key)?;
        Value::new(self.entries.remove(index))
    }

    /// The value of `key`; an error if it is not there, with an example of what to write.
    pub fn require(
        &mut self,
        key: &'static str,
        example: &str,
        report: &mut Report,
    ) -> Option<Value<'a>> {
        let value = self.take(key);
        if value.is_none() {
            report.push(Error::new(
                &self.place,
                format!("{} has no `{key}`", self.what),
                format!("expected the key `{key}` here"),
                format!("add for example: {example}"),
            ));
        }
        value
    }

    /// All values, for tables whose keys are names.
    pub fn take_all(&mut self) -> Vec<Value<'a>> {
        std::mem::take(&mut self.entries).into_iter().filter_map(Value::new).collect()
    }

    /// Reports the keys that nobody took.
    pub fn finish(self, report: &mut Report) {
        for Entry { name: name_text, key, .. } in &self.entries {
            let help = match nearest(name_text, self.known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
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
    fn new(entry: Entry<'a>) -> Option<Value<'a>> {
        let Entry { name, key, values: mut below } = entry;
        let (source, value) = below.pop()?;
        Some(Value { source, name: name.to_owned(), key, value, below })
    }

    /// Where the value is.
    pub fn place(&self) -> Place {
        Place::new(self.source, self.value.span())
    }

    fn located<T>(&self, value: T) -> Located<T> {
        Located::new(value, self.place())
    }

    /// Reports that something else was expected.
    pub fn expected(&self, expected: &str, example: &str, report: &mut Report) {
        let found = self.value.get_ref().type_str();
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
        self.value.get_ref().as_str()
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// The table, if it is one, with the tables directly below it.
    pub fn as_table(&self, what: impl Into<String>) -> Option<Table<'a>> {
        let as_table = |(source, value): Sourced<'a>| Some((source, value.get_ref().as_table()?));
        let own = as_table((self.source, self.value))?;
        let mut tables = vec![own];
        tables.extend(self.below.iter().rev().copied().map_while(as_table));
        tables.reverse();
        Some(Table::new(tables, self.key.clone(), what))
    }

    /// A string.
    pub fn text(&self, example: &str, report: &mut Report) -> Option<Located<String>> {
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
        let Some(value) = self.value.get_ref().as_bool() else {
            self.expected("`true` or `false`", &format!("{} = true", self.name), report);
            return None;
        };
        Some(self.located(value))
    }

    /// A whole number in `range`.
    pub fn integer(&self, range: RangeInclusive<u64>, report: &mut Report) -> Option<Located<u64>> {
        let Some(integer) = self.value.get_ref().as_integer() else {
            let example = format!("{} = {}", self.name, range.start());
            self.expected("an integer", &example, report);
            return None;
        };
        let value = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        let value = value.and_then(|value| u64::try_from(value).ok());
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
        let expected = || {
            format!(
                "expected a size from {} to {}",
                show_size(*range.start()),
                show_size(*range.end())
            )
        };
        let bytes = match self.value.get_ref() {
            DeValue::String(text) => match parse_size(text) {
                Some(bytes) => bytes,
                None => {
                    let help =
                        "write digits and K, M or G (powers of 1024), or bytes without quotes";
                    self.invalid(expected(), help, report);
                    return None;
                }
            },
            DeValue::Integer(_) => self.integer(0..=u64::MAX >> 1, report)?.value,
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
        let integer = |integer: &toml::de::DeInteger<'_>| {
            i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(Given::Integer)
        };
        let given = match self.value.get_ref() {
            DeValue::String(text) => Some(Given::Text(text.to_string())),
            DeValue::Integer(value) => integer(value),
            DeValue::Boolean(value) => Some(Given::Bool(*value)),
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
        let table = self.as_table(what);
        if table.is_none() {
            self.expected("a table", &format!("{} = {{ ... }}", self.name), report);
        }
        table
    }

    /// The elements of an array.
    pub fn array(&self, example: &str, report: &mut Report) -> Option<Vec<Value<'a>>> {
        let Some(array) = self.value.get_ref().as_array() else {
            self.expected("an array", &format!("{} = {example}", self.name), report);
            return None;
        };
        let element = |value: &'a Spanned<DeValue<'a>>| Value {
            source: self.source,
            name: self.name.clone(),
            key: Place::new(self.source, value.span()),
            value,
            below: Vec::new(),
        };
        Some(array.iter().map(element).collect())
    }

    /// Strings in an array.
    pub fn texts(&self, example: &str, report: &mut Report) -> Option<Vec<Located<String>>> {
        let elements = self.array(example, report)?;
        elements
            .iter()
            .map(|element| {
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
        Place::new(self.source, first + start..first + end)
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
