//! Where something stands in a description: kept with every value, so that later stages can report
//! at it too.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A description's file.
pub struct Source {
    path: String,
    text: String,
    is_foreign: bool,
}

impl Source {
    /// A file with its text; `path` is what messages show.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { path: path.into(), text: text.into(), is_foreign: false })
    }

    /// The same of a file that is not the project's own ([`Files::is_foreign`](crate::Files::is_foreign)).
    pub(crate) fn foreign(path: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { path: path.into(), text: text.into(), is_foreign: true })
    }

    /// Whether it is not the project's own.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The path as messages show it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A stretch of a description's text.
#[derive(Clone)]
pub struct Place {
    source: Arc<Source>,
    start: usize,
    end: usize,
}

impl Place {
    /// The bytes `range` of `source`, moved to the nearest character boundaries inside the text.
    pub fn new(source: &Arc<Source>, range: Range<usize>) -> Place {
        let text = source.text();
        let mut start = range.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        if start == text.len() && text.ends_with('\n') {
            // The end of the file is shown as the end of its last line.
            start -= 1;
            return Place { source: source.clone(), start, end: start };
        }
        let mut end = range.end.clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        Place { source: source.clone(), start, end }
    }

    /// The file.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The file's path as messages show it.
    pub fn path(&self) -> &str {
        self.source.path()
    }

    /// The bytes of the file's text.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.source.text()[self.range()]
    }

    /// Line, from 1.
    pub fn line(&self) -> usize {
        1 + self.before().matches('\n').count()
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> usize {
        1 + self.before().chars().rev().take_while(|character| *character != '\n').count()
    }

    /// Whether it is a key of a table without a header of its own: `table = { key = 1 }`, `table.key = 1`.
    pub(crate) fn is_inline(&self) -> bool {
        let before = self.before();
        let line = before.rsplit('\n').next().unwrap_or(before);
        let table = before.rfind("\n[").map_or(before, |header| &before[header..]);
        let is_behind = !line.trim().is_empty() && !line.starts_with('[');
        is_behind || table.matches('{').count() > table.matches('}').count()
    }

    /// Whether it is in the table with this header, and in none behind it.
    pub(crate) fn is_below(&self, header: &Place) -> bool {
        let between = self.source.text().get(header.end..self.start);
        Arc::ptr_eq(&self.source, &header.source)
            && between.is_some_and(|between| !between.contains("\n["))
    }

    /// Whether it is the same stretch of the same file.
    pub(crate) fn is(&self, other: &Place) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.range() == other.range()
    }

    fn before(&self) -> &str {
        &self.source.text()[..self.start]
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.path(), self.line(), self.column())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A value and where it was written. It is used like the value itself.
///
/// A default's place is that of the table that could have set it.
#[derive(Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub place: Place,
}

impl<T> Located<T> {
    /// `value`, written at `place`.
    pub fn new(value: T, place: Place) -> Located<T> {
        Located { value, place }
    }

    /// Another value, written at the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: change(self.value), place: self.place }
    }
}

impl<T> Deref for Located<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Located<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(formatter)
    }
}

impl<T: fmt::Debug> fmt::Debug for Located<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} @ {}", self.value, self.place)
    }
}
