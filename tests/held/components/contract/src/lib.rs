//! What is held, who holds it, and who calls it.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error, InstanceId};

/// What is held.
#[cairn::interface]
pub trait Work {
    /// Counts a call of the caller's; the value is how many calls there were in this life.
    fn work(&self, caller: Caller) -> Result<u64, Error>;
    /// Stays inside for so many microseconds.
    fn stay(&self, microseconds: u64) -> Result<(), Error>;
    /// From now on it is written down who calls.
    fn watch(&self) -> Result<(), Error>;
    /// Whose call was this one since then; 0: there was none yet.
    fn watched(&self, number: u64) -> Result<u64, Error>;
    /// Its number.
    fn number(&self) -> Result<InstanceId, Error>;
}

/// Who holds it, and can be ended meanwhile.
#[cairn::interface]
pub trait Keeper {
    /// Holds an instance.
    fn hold(&self, instance: InstanceId) -> Result<(), Error>;
    /// Whether no thread is inside.
    fn is_quiet(&self, instance: InstanceId) -> Result<bool, Error>;
    /// Lets its portals lead where the record says.
    fn relink(&self, instance: InstanceId) -> Result<(), Error>;
    /// One step of leaving its domain to a successor.
    fn leave(&self, instance: InstanceId) -> Result<u64, Error>;
    /// Holds it no longer.
    fn release(&self, instance: InstanceId) -> Result<(), Error>;
    /// Calls it.
    fn call(&self) -> Result<u64, Error>;
    /// Has it write down who calls.
    fn watch(&self) -> Result<(), Error>;
}

/// Who calls it all the time.
#[cairn::interface]
pub trait Calls {
    /// How many calls were begun, how many came back, and how many of them with an error.
    fn calls(&self) -> Result<(u64, u64, u64), Error>;
    /// Its number.
    fn number(&self) -> Result<InstanceId, Error>;
}
