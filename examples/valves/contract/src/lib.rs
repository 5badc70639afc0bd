//! What the valves' server and its clients agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// The valves of a plant, each of which one client has at a time.
#[cairn::interface]
pub trait Valves {
    /// Reserves a valve for the caller, until it releases it or ends.
    fn reserve(&self, place: Place, number: u64) -> Result<Object<dyn Valve>, ValveError>;
    /// How far a valve is open, in percent; one that nobody has is closed.
    fn position(&self, number: u64) -> Result<u8, ValveError>;
}

/// A valve that the client has reserved: an object.
#[cairn::interface]
pub trait Valve {
    /// Opens or closes it.
    fn turn(&self, percent: u8) -> Result<(), ValveError>;
    /// Closes it and gives it back.
    fn release(&self) -> Result<(), ValveError>;
}

/// How a method can end beside success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
pub enum ValveError {
    /// There is no valve of this number.
    NoSuchValve,
    /// Another client has it, or the same one already.
    Reserved,
    /// More than 100 percent.
    TooFar,
    /// The call failed.
    Portal(Error),
}
