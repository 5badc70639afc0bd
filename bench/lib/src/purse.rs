//! What is passed on in benchmarks, and to whom.

use cairn::{Error, Object};

/// Five methods.
#[cairn::interface]
pub trait Purse {
    /// Nothing.
    fn first(&self) -> Result<(), Error>;
    /// The word.
    fn second(&self, word: u64) -> Result<u64, Error>;
    /// The sum.
    fn third(&self, left: u64, right: u64) -> Result<u64, Error>;
    /// The number of bytes.
    fn fourth(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// The same.
    fn fifth(&self, bytes: &mut [u8]) -> Result<u64, Error>;
}

/// Who gets purses.
#[cairn::interface]
pub trait Taker {
    /// Accepts a purse; its first portal.
    fn take(&self, purse: Object<dyn Purse>) -> Result<u64, Error>;
    /// Gives one up.
    fn leave(&self, first: u64) -> Result<(), Error>;
    /// Passes one on to an instance, which may not; the word of the grant.
    fn pass(&self, first: u64, to: u64) -> Result<u64, Error>;
    /// Accepts what an instance granted by this word; its first portal.
    fn take_word(&self, granter: u64, word: u64) -> Result<u64, Error>;
}
