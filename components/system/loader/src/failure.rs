//! Why something was not loaded, for people.

use cairn::text::Line;
use cairn::{Error, InstanceId};
use core::fmt::Arguments;

/// Callers whose last failure is kept.
const KEPT: usize = 8;

/// A sentence.
pub type Text = Line<192>;

/// A step that failed.
pub struct Failed {
    /// What the caller gets.
    pub error: Error,
    text: Text,
}

impl Failed {
    /// Why, as a sentence.
    pub fn new(error: Error, text: Arguments) -> Failed {
        Failed { error, text: Text::of(text) }
    }

    /// Of an instance that does not end.
    pub fn unloading(name: &str, error: Error) -> Failed {
        let why = match error {
            Error::NotFound => "there is no such instance",
            Error::NotAllowed => "the caller did not load it",
            Error::Busy => "another instance is connected to it",
            error => error.text(),
        };
        Failed::new(error, format_args!("cannot unload `{name}`: {why}"))
    }
}

/// The last failures, each of another caller.
pub struct Failures {
    all: [Option<(InstanceId, Text)>; KEPT],
    next: usize,
}

impl Failures {
    /// None.
    pub const NONE: Failures = Failures { all: [const { None }; KEPT], next: 0 };

    /// The caller's last one.
    pub fn note(&mut self, caller: InstanceId, failed: Failed) {
        let is_its = |one: &Option<(InstanceId, Text)>| {
            one.as_ref().is_some_and(|(whose, _)| *whose == caller)
        };
        let place = self.all.iter().position(is_its).unwrap_or_else(|| {
            self.next = (self.next + 1) % KEPT;
            self.next
        });
        self.all[place] = Some((caller, failed.text));
    }

    /// The same, to read.
    pub fn of(&self, caller: InstanceId) -> Result<&Text, Error> {
        let found = self.all.iter().flatten().find(|(whose, _)| *whose == caller);
        found.map(|(_, text)| text).ok_or(Error::NotFound)
    }
}
