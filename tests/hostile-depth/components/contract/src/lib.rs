//! What the divers call of each other.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// A way further down.
#[cairn::interface]
pub trait Dive {
    /// Calls the other diver, as long as the invocation stack has room; then waits for ever.
    fn down(&self) -> Result<(), Error>;
}
