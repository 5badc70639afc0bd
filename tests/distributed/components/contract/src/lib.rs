//! What the judge has a node say that keeps to no protocol.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Says to the home what it is told to say.
#[cairn::interface]
pub trait Sayings {
    /// It joins, with so many pages.
    fn join(&self, pages: u64) -> Result<u64, Error>;
    /// It fetches a page: the grant, and the first word.
    fn fetch(&self, membership: u64, page: u64, to_write: bool) -> Result<(u64, u64), Error>;
    /// It gives a page back, full of this word.
    fn give_back(&self, membership: u64, page: u64, grant: u64, word: u64) -> Result<(), Error>;
    /// It fetches and gives back with buffers of these lengths: whether each was refused.
    fn lengths(&self, membership: u64, page: u64, length: u64) -> Result<bool, Error>;
}
