//! What the judge asks of those who change a section in transactions.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Changes a section.
#[cairn::interface]
pub trait Changes {
    /// The first word of a page.
    fn load(&self, page: u64) -> Result<u64, Error>;
    /// Writes it.
    fn store(&self, page: u64, word: u64) -> Result<(), Error>;
    /// The first word of all pages, and whether it is the same in all.
    fn load_all(&self, pages: u64) -> Result<(u64, bool), Error>;
    /// Begins a transaction.
    fn begin(&self, first: u64, pages: u64) -> Result<(), Error>;
    /// Commits it.
    fn commit(&self) -> Result<u64, Error>;
    /// Aborts it.
    fn abort(&self) -> Result<u64, Error>;
    /// A whole transaction: each of the first so many pages has this word.
    fn change_all(&self, pages: u64, word: u64) -> Result<u64, Error>;
}
