//! What those serve that are loaded.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error};

/// A guest.
#[cairn::interface]
pub trait Guest {
    /// What its package says.
    fn number(&self) -> Result<u64, Error>;
    /// How often it was called in this life, this call included: a word of its data, which begins as 100.
    fn count(&self) -> Result<u64, Error>;
    /// The instance that calls.
    fn who(&self, caller: Caller) -> Result<u64, Error>;
    /// The sum of the bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// What it knows of itself: how often it was started before, and whether its name, its text and an address in its data are as they
    /// should be.
    fn itself(&self) -> Result<(u64, bool), Error>;
    /// It panics.
    fn fault(&self) -> Result<(), Error>;
    /// Has a package loaded; how that ended, as a status.
    fn load(&self, package: &str, name: &str) -> Result<i64, Error>;
    /// The same, but for its beginning, which never comes.
    fn prepare(&self, package: &str, name: &str) -> Result<i64, Error>;
    /// How many of so many pages it gets, and keeps.
    fn take_pages(&self, pages: u64) -> Result<u64, Error>;
}
