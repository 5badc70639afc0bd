//! What is wrong with a package.

use core::fmt;

/// What is wrong with a package, and where. Shown, it is a message for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which part.
    pub part: Part,
    /// What.
    pub problem: Problem,
}

/// A part of a package; the numbers are from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The head, or what it says of the whole.
    Head,
    /// A segment.
    Segment(usize),
    /// An import.
    Import(usize),
    /// An export.
    Export(usize),
    /// A method of the exports.
    Method(usize),
    /// A relocation.
    Relocation(usize),
}

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A number.
    Number {
        /// Of what.
        what: &'static str,
        /// The number.
        found: u64,
        /// What it may be.
        expected: Expected,
    },
    /// Anything else: what is expected.
    Expected(&'static str),
}

/// What a number may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This one.
    Exactly(u64),
    /// It, or more.
    AtLeast(u64),
    /// One from the first to the second.
    Within(u64, u64),
    /// A multiple of it.
    MultipleOf(u64),
}

impl Fault {
    pub(super) fn number(part: Part, what: &'static str, found: u64, expected: Expected) -> Fault {
        Fault { part, problem: Problem::Number { what, found, expected } }
    }

    pub(super) fn expected(part: Part, expected: &'static str) -> Fault {
        Fault { part, problem: Problem::Expected(expected) }
    }
}

/// A number as people read it: large ones are sizes and addresses.
struct Shown(u64);

impl fmt::Display for Shown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 10_000 { write!(out, "{}", self.0) } else { write!(out, "{:#x}", self.0) }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Head => out.write_str("the package"),
            Part::Segment(number) => write!(out, "segment {number}"),
            Part::Import(number) => write!(out, "import {number}"),
            Part::Export(number) => write!(out, "export {number}"),
            Part::Method(number) => write!(out, "method {number}"),
            Part::Relocation(number) => write!(out, "relocation {number}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.part)?;
        let (what, found, expected) = match self.problem {
            Problem::Expected(expected) => return write!(out, "expected {expected}"),
            Problem::Number { what, found, expected } => (what, Shown(found), expected),
        };
        match expected {
            Expected::Exactly(one) => {
                write!(out, "{what} is {found}, expected {}", Shown(one))
            }
            Expected::AtLeast(least) => {
                write!(out, "{what} is {found}, expected at least {}", Shown(least))
            }
            Expected::Within(from, to) => {
                write!(out, "{what} is {found}, expected {} to {}", Shown(from), Shown(to))
            }
            Expected::MultipleOf(unit) => {
                write!(out, "{what} is {found}, expected a multiple of {}", Shown(unit))
            }
        }
    }
}

impl core::error::Error for Fault {}
