//! What the tally, the notes and their clients agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// Counts.
#[cairn::interface]
pub trait Tally {
    /// Counts once; the sum.
    fn count(&self) -> Result<u64, Error>;
    /// A count of the client's own.
    fn ticket(&self, place: Place) -> Result<Object<dyn Ticket>, Error>;
}

/// A count of one's own.
#[cairn::interface]
pub trait Ticket {
    /// Counts once; the sum.
    fn bump(&self) -> Result<u64, Error>;
}

/// A short text.
#[cairn::interface]
pub trait Notes {
    /// Keeps this text; how many were kept.
    fn write(&self, text: &str) -> Result<u64, Error>;
    /// Fills in the text that was kept last.
    fn read(&self, text: &mut [u8]) -> Result<usize, Error>;
}

/// Has a ticket, and lends it.
#[cairn::interface]
pub trait Lender {
    /// Counts once by the ticket.
    fn bump(&self) -> Result<u64, Error>;
    /// Lends it to the borrower, for so many calls. `Busy`: it is lent already.
    fn lend(&self, calls: u32) -> Result<(), Error>;
    /// Takes it back.
    fn take_back(&self) -> Result<(), Error>;
}

/// Is lent a ticket.
#[cairn::interface]
pub trait Borrower {
    /// Keeps the ticket, until it is lent another.
    fn keep(&self, ticket: Object<dyn Ticket>) -> Result<(), Error>;
    /// Counts once by it.
    fn bump(&self) -> Result<u64, Error>;
}
