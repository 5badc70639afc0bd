//! Why something was not loaded, for people.

use cairn::exclusive::Exclusive;
use cairn::text::Line;
use cairn::{Error, InstanceId};
use core::fmt::Arguments;

/// Callers whose last failure is kept.
const KEPT: usize = 8;

/// A sentence.
pub type Text = Line<192>;

/// What failed last. One load at a time is at work.
static LAST: Exclusive<Text> = Exclusive::new(Text::new());

/// Notes why a step failed; the same error.
pub fn failed(error: Error, why: Arguments) -> Error {
    LAST.with(|last| *last = Text::of(why));
    error
}

/// Of an instance that does not end.
pub fn unloading(name: &str, error: Error) -> Error {
    let why = match error {
        Error::NotFound => "there is no such instance",
        Error::NotAllowed => "the caller did not load it",
        Error::Busy => "another instance is connected to it",
        error => error.text(),
    };
    failed(error, format_args!("cannot unload `{name}`: {why}"))
}

/// The last failures, each of another caller.
pub struct Failures {
    all: [Option<(InstanceId, Text)>; KEPT],
    next: usize,
}

impl Failures {
    /// None.
    pub const NONE: Failures = Failures { all: [const { None }; KEPT], next: 0 };

    /// What failed last was this caller's, with this error.
    pub fn keep(&mut self, caller: InstanceId, error: Error) {
        let is_its = |one: &Option<(InstanceId, Text)>| {
            one.as_ref().is_some_and(|(whose, _)| *whose == caller)
        };
        let place = self.all.iter().position(is_its).unwrap_or_else(|| {
            self.next = (self.next + 1) % KEPT;
            self.next
        });
        let noted = LAST.with(core::mem::take);
        let is_noted = !noted.text().is_empty();
        let text = if is_noted { noted } else { Text::of(format_args!("{}", error.text())) };
        self.all[place] = Some((caller, text));
    }

    /// The same, to read.
    pub fn of(&self, caller: InstanceId) -> Result<&Text, Error> {
        let found = self.all.iter().flatten().find(|(whose, _)| *whose == caller);
        found.map(|(_, text)| text).ok_or(Error::NotFound)
    }
}
