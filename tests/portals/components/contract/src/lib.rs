//! What the server of this test serves.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Error, Object, Place};

/// Open to everyone.
#[cairn::interface]
pub trait Service {
    /// The sum.
    fn add(&self, left: u64, right: u64) -> Result<u64, Error>;
    /// The sum of bytes, which come through a copy or a window.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Makes an object for the caller.
    fn counter(&self, place: Place, first: u64) -> Result<Object<dyn Counter>, Error>;
    /// Says that it made an object, and makes none.
    fn claim(&self, place: Place) -> Result<Object<dyn Counter>, Error>;
    /// Tries to make an object for a domain that reserved no place for one.
    fn counter_for(&self, victim: u64, place: u64) -> Result<(), Error>;
    /// Takes the portals of a counter back; the value is how many blocks.
    fn end_counter(&self, control: u64) -> Result<u64, Error>;
    /// Takes back what `client` opened of `slow`.
    fn revoke_slow(&self, client: u64) -> Result<u64, Error>;
    /// How many threads are in `slow.hold`.
    fn inside(&self) -> Result<u64, Error>;
    /// Lets one of them go.
    fn release(&self) -> Result<(), Error>;
    /// Registers `server.late`, or tries what must be refused.
    fn register(&self, attempt: u64) -> Result<(), Error>;
    /// Takes the registration back, and what was opened of it.
    fn unregister(&self) -> Result<(), Error>;
    /// The partner tells how far it is.
    fn report(&self, progress: u64) -> Result<(), Error>;
    /// How far the partner is.
    fn progress(&self) -> Result<u64, Error>;
}

/// An object.
#[cairn::interface]
pub trait Counter {
    /// The next number.
    fn next(&self) -> Result<u64, Error>;
    /// Its control word.
    fn control(&self) -> Result<u64, Error>;
    /// Ends it.
    fn close(&self) -> Result<(), Error>;
}

/// Waits inside the server.
#[cairn::interface]
pub trait Slow {
    /// Returns 42 when it is released.
    fn hold(&self) -> Result<u64, Error>;
}

/// Registered at run time.
#[cairn::interface]
pub trait Late {
    /// The product.
    fn multiply(&self, left: u64, right: u64) -> Result<u64, Error>;
}

/// Has a parameter type registered.
#[cairn::interface]
pub trait Typist {
    /// Registers `H`.
    fn register(&self) -> Result<(), Error>;
    /// Keeps so many words for `D`, which looks one of eight up, and registers it.
    fn keep(&self, words: u64) -> Result<(), Error>;
    /// Sets one of them.
    fn set(&self, place: u64, word: u64) -> Result<(), Error>;
    /// Tries what must be refused; the number of the first that was not, or 0.
    fn refusals(&self) -> Result<u64, Error>;
}

/// What a client takes `server.hostile` for.
#[cairn::interface]
pub trait Harmless {
    /// Words.
    fn words(&self, left: u64, right: u64) -> Result<u64, Error>;
    /// Bytes that nobody changes.
    fn bytes(&self, bytes: &[u8]) -> Result<u64, Error>;
}

/// The partner's progress, as [`Service::report`] has it.
pub mod progress {
    /// Its call returned after its portal had been revoked.
    pub const RETURNED: u64 = 1;
    /// The revoked portal was gone.
    pub const REVOKED: u64 = 2;
    /// It has opened what the tester published.
    pub const OPENED: u64 = 3;
    /// It has the lock.
    pub const LOCKED: u64 = 4;
    /// What the tester closed was gone.
    pub const CLOSED: u64 = 5;
    /// Something else happened; the status is added.
    pub const WRONG: u64 = 1000;
}
