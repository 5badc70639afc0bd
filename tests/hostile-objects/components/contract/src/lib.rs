//! What the victim takes its servers for.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// A server, as its client sees it.
#[cairn::interface]
pub trait Bank {
    /// Opens numbers; `how` ([`how`]) is between the test and its hostile server.
    fn open(&self, place: Place, how: u64) -> Result<Object<dyn Numbers>, Error>;
    /// Opens a reader of bytes, which the client wants.
    fn reader(&self, place: Place) -> Result<Object<dyn Reader>, Error>;
    /// Has the server make an object for a domain at a place that it was not asked for; readers if `reader`,
    /// else numbers.
    fn fill(&self, client: u64, place: u64, reader: bool) -> Result<(), Error>;
    /// Has the server try every index of a domain's table, with every number that a reservation may have.
    /// The value is how many objects it made.
    fn flood(&self, client: u64, reservations: u64) -> Result<u64, Error>;
    /// Has the server take all its objects back; the value is how many portal blocks that were.
    fn end(&self) -> Result<u64, Error>;
    /// Has the server reserve places for objects of `liar`, and leave them; the value names the last.
    fn reserve(&self, count: u64) -> Result<u64, Error>;
    /// Has the server open an object of `liar`, use it, and close it.
    fn work(&self) -> Result<(), Error>;
}

/// An object of words.
#[cairn::interface]
pub trait Numbers {
    /// The sum.
    fn pair(&self, left: u64, right: u64) -> Result<u64, Error>;
}

/// An object of bytes: the same registers mean an address and a length.
#[cairn::interface]
pub trait Reader {
    /// The first eight.
    fn pair(&self, bytes: &[u8]) -> Result<u64, Error>;
}

/// What the hostile server does with a place.
pub mod how {
    /// What it was asked for.
    pub const HONEST: u64 = 0;
    /// Puts a reader there.
    pub const OTHER_LETTERS: u64 = 1;
    /// Nothing, and says that it did.
    pub const NOTHING: u64 = 2;
    /// What it was asked for, twice; succeeds if the second time was refused.
    pub const TWICE: u64 = 3;
    /// What it was asked for, and says that it failed.
    pub const FAILED: u64 = 4;
    /// What it was asked for, and takes it back before it returns.
    pub const ENDED: u64 = 5;
}
