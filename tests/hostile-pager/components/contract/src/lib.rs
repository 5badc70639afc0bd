//! What the judge has the villain do.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// How the villain answers faults. It begins with zeros after each death.
#[cairn::interface]
pub trait Deeds {
    /// With a page of its own, for each of the client's another one.
    fn behave(&self) -> Result<(), Error>;
    /// With this status, if it is not 0, and value.
    fn answer(&self, status: u64, value: u64) -> Result<(), Error>;
    /// With its page of this number, whatever is missed, and these rights.
    fn answer_page(&self, page: u64, rights: u64) -> Result<(), Error>;
    /// With a panic.
    fn die(&self) -> Result<(), Error>;
    /// Not at all: it computes for ever, or sleeps again and again.
    fn keep(&self, sleeps: bool) -> Result<(), Error>;
    /// Tries to give its pages back: 0, or the error.
    fn give_back(&self) -> Result<u64, Error>;
    /// The address of its page of this number; of its code; of a section that it made.
    fn places(&self, page: u64) -> Result<(u64, u64, u64), Error>;
    /// Takes pages from the range of this number: 0, or the error.
    fn unmap(&self, range: u64, first: u64, pages: u64) -> Result<u64, Error>;
    /// How many faults it has seen, and the rights of the last one.
    fn seen(&self) -> Result<(u64, u64), Error>;
}
