//! What the components of the test of deaths agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// Holds calls, with a lock.
#[cairn::interface]
pub trait Holder {
    /// Takes the lock, sleeps, and gives it back; the value is how many calls have done so.
    fn hold(&self, microseconds: u64) -> Result<u64, Error>;
    /// How many calls have done so.
    fn finished(&self) -> Result<u64, Error>;
    /// How many calls hold the lock now.
    fn holding(&self) -> Result<u64, Error>;
    /// Makes an object.
    fn token(&self, place: Place, number: u64) -> Result<Object<dyn Token>, Error>;
}

/// An object.
#[cairn::interface]
pub trait Token {
    /// Its number.
    fn number(&self) -> Result<u64, Error>;
}

/// A link of a chain.
#[cairn::interface]
pub trait Hop {
    /// Calls the next one with one step less; at no step, faults. The value is how many links are
    /// behind this one.
    fn go(&self, steps: u64) -> Result<u64, Error>;
    /// Calls since this link was started.
    fn count(&self) -> Result<u64, Error>;
}
