//! What moves while it is called in every way.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// Takes memory, makes objects, keeps who calls.
#[cairn::interface]
pub trait Gate {
    /// Writes a byte everywhere, before and after so many ticks.
    fn fill(&self, bytes: &mut [u8], byte: u8, ticks: u64) -> Result<(), Error>;
    /// The sum of bytes, after so many ticks. `Malformed`: it was another one before.
    fn sum(&self, bytes: &[u8], ticks: u64) -> Result<u64, Error>;
    /// An object that answers this.
    fn door(&self, place: Place, answer: u64) -> Result<Object<dyn Door>, Error>;
    /// Keeps the caller until `open` is called.
    #[waits]
    fn keep(&self) -> Result<(), Error>;
    /// Who is kept comes back.
    fn open(&self) -> Result<(), Error>;
}

/// An object of a caller's own.
#[cairn::interface]
pub trait Door {
    /// What it was made with.
    fn answer(&self) -> Result<u64, Error>;
    /// It is not needed any more.
    fn end(&self) -> Result<(), Error>;
}

/// What a caller has done.
#[cairn::interface]
pub trait Caller {
    /// Calls that were answered as they should be, in this life.
    fn calls(&self) -> Result<u64, Error>;
}

/// What a caller does.
pub mod kinds {
    /// It brings memory, small and large.
    pub const BRINGS: u64 = 0;
    /// It is inside nearly all the time.
    pub const INSIDE: u64 = 1;
    /// It opens, reserves, calls and closes.
    pub const OPENS: u64 = 2;
    /// It opens as much as it can get, and keeps it.
    pub const GRABS: u64 = 3;
    /// It dies while it is inside, with pages in windows.
    pub const DIES: u64 = 4;
}
