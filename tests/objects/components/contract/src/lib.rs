//! A server of many small objects.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::object::{Object, Place};

/// What makes the objects.
#[cairn::interface]
pub trait Shelf {
    /// One more, with a number.
    fn take(&self, place: Place, number: u64) -> Result<Object<dyn Item>, Error>;
    /// Forgets all that it made.
    fn clear(&self) -> Result<(), Error>;
}

/// An object with one method, so that each is one portal.
#[cairn::interface]
pub trait Item {
    /// Its number.
    fn number(&self) -> Result<u64, Error>;
}
