//! A description as a tree that knows where everything stands, and that can be put over another one.

use crate::place::{Place, Source};
use crate::probe::Probe;
use crate::report::{Error, Report};
use std::rc::Rc;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value.
#[derive(Clone)]
pub(crate) struct Node {
    pub place: Place,
    pub data: Data,
}

#[derive(Clone)]
pub(crate) enum Data {
    Text(String),
    /// A text in which something stands for something else: it may be meant as a number, or as `true` or `false`.
    Filled(String),
    /// `None`: it has no room in 128 bits.
    Integer(Option<i128>),
    Boolean(bool),
    /// What no key has: its type.
    Other(&'static str),
    Array(Vec<Node>),
    Table(Vec<Entry>),
    /// Whatever its readers ask for.
    Probe(Rc<Probe>),
}

/// A key of a table, with its value.
#[derive(Clone)]
pub(crate) struct Entry {
    pub name: String,
    pub key: Place,
    pub value: Node,
    /// The table of which it is a copy.
    pub copy_of: Option<String>,
}

impl Node {
    /// The tree of a file.
    pub fn of(source: &Arc<Source>, tree: &DeTable<'_>) -> Node {
        Node { place: Place::new(source, 0..0), data: Data::Table(entries(source, tree)) }
    }

    fn read(source: &Arc<Source>, value: &Spanned<DeValue<'_>>) -> Node {
        let data = match value.get_ref() {
            DeValue::String(text) => Data::Text(text.to_string()),
            DeValue::Integer(integer) => {
                Data::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).ok())
            }
            DeValue::Boolean(value) => Data::Boolean(*value),
            DeValue::Array(array) => {
                Data::Array(array.iter().map(|one| Node::read(source, one)).collect())
            }
            DeValue::Table(table) => Data::Table(entries(source, table)),
            other => Data::Other(other.type_str()),
        };
        Node { place: Place::new(source, value.span()), data }
    }

    /// What messages call its type.
    pub fn type_name(&self) -> &'static str {
        match &self.data {
            Data::Text(_) | Data::Filled(_) => "string",
            Data::Integer(_) => "integer",
            Data::Boolean(_) => "boolean",
            Data::Array(_) => "array",
            Data::Table(_) | Data::Probe(_) => "table",
            Data::Other(name) => name,
        }
    }

    /// Its entries, if it is a table.
    pub fn entries(&self) -> Option<&[Entry]> {
        if let Data::Table(entries) = &self.data { Some(entries) } else { None }
    }

    /// The same, to be changed.
    pub fn entries_mut(&mut self) -> Option<&mut Vec<Entry>> {
        if let Data::Table(entries) = &mut self.data { Some(entries) } else { None }
    }

    /// The value of a key, if it is a table that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries()?.iter().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let mut entries = self.entries_mut()?.iter_mut();
        entries.find(|entry| entry.name == name).map(|entry| &mut entry.value)
    }

    /// Takes a key out of a table.
    pub fn remove(&mut self, name: &str) -> Option<Entry> {
        let entries = self.entries_mut()?;
        let index = entries.iter().position(|entry| entry.name == name)?;
        Some(entries.remove(index))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) | Data::Filled(text) => Some(text),
            Data::Probe(_) => Some("text"),
            _ => None,
        }
    }

    /// What notes how it is read, if it is nothing else.
    pub fn probe(&self) -> Option<&Probe> {
        if let Data::Probe(probe) = &self.data { Some(probe) } else { None }
    }

    /// The text; an error if it is none. `name` is how messages call it, `example` what could be written.
    pub fn text(&self, name: &str, example: &str, report: &mut Report) -> Option<&str> {
        let text = self.as_text();
        if text.is_none() {
            report.push(Error::new(
                &self.place,
                format!("`{name}` has the wrong type"),
                format!("expected a string, found another type: {}", self.type_name()),
                format!("write for example: {example}"),
            ));
        }
        text
    }

    /// Itself over another: of two tables all keys are there, those of the lower first; of anything else only the
    /// upper.
    pub fn over(self, lower: Node) -> Node {
        let Node { place, data } = self;
        let data = match (lower.data, data) {
            (Data::Table(mut entries), Data::Table(upper)) => {
                for entry in upper {
                    match entries.iter().position(|lower| lower.name == entry.name) {
                        Some(index) => {
                            let lower = entries[index].value.clone();
                            let value = entry.value.over(lower);
                            entries[index] = Entry { value, ..entry };
                        }
                        None => entries.push(entry),
                    }
                }
                Data::Table(entries)
            }
            (_, data) => data,
        };
        Node { place, data }
    }
}

/// In the order in which they are written.
fn entries(source: &Arc<Source>, table: &DeTable<'_>) -> Vec<Entry> {
    let mut written: Vec<_> = table.iter().collect();
    written.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, _)| Entry {
        name: key.get_ref().to_string(),
        key: Place::new(source, key.span()),
        value: Node::read(source, value),
        copy_of: None,
    };
    written.into_iter().map(entry).collect()
}
