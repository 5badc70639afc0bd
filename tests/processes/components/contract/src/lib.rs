//! What the small kernel tells of itself.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// How far it is.
#[cairn::interface]
pub trait Progress {
    /// How often both processes have gone on as they should, in this life.
    fn rounds(&self) -> Result<u64, Error>;
}
