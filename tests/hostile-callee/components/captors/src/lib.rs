//! What the components of the test of callees that never return agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Does not return, each in its way.
#[cairn::interface]
pub trait Captor {
    /// Keeps the thread.
    fn keep(&self) -> Result<u64, Error>;
    /// Answers.
    fn answer(&self) -> Result<u64, Error>;
}
