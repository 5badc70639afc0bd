//! What who is started, its callers and its callee agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Takes the place of its own first thread.
#[cairn::interface]
pub trait Newborn {
    /// If its first thread has not begun, spawns another instead of it, and has its callee work; whether it has begun.
    fn take(&self) -> Result<bool, Error>;
}

/// Needs its time.
#[cairn::interface]
pub trait Tidy {
    /// Takes less time than a callee of the dead has undisturbed.
    fn work(&self) -> Result<(), Error>;
    /// How often it worked, and how often it was disturbed.
    fn counts(&self) -> Result<(u64, u64), Error>;
}
