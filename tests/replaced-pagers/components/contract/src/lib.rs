//! What the judge asks of those who use pages.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Uses the pages of a section, and dies of a page that has not what it wrote there.
#[cairn::interface]
pub trait User {
    /// How often it has used one in this life.
    fn rounds(&self) -> Result<u64, Error>;
}
