//! What the two that share a domain serve.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error};

/// A till, which the clerk calls, and whoever else.
#[cairn::interface]
pub trait Till {
    /// Adds to what it holds; the value is what it held before.
    fn add(&self, amount: u64) -> Result<u64, Error>;
    /// The sum of the bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Writes each byte's place into it.
    fn number(&self, bytes: &mut [u8]) -> Result<(), Error>;
    /// Three words: the numbers from this one on.
    fn count_on(&self, first: u64) -> Result<(u64, u64, u64), Error>;
    /// The instance that calls.
    fn who(&self, caller: Caller) -> Result<u64, Error>;
    /// A page, asked for by the index of its import.
    fn page_by_index(&self) -> Result<(), Error>;
    /// What the description gives it: two numbers, and whether the others are as expected.
    fn given(&self) -> Result<(u64, i64, bool), Error>;
    /// The first word of the section `notice`.
    fn notice(&self) -> Result<u64, Error>;
    /// It panics.
    fn break_down(&self) -> Result<(), Error>;
    /// Takes so many pages, and keeps them. The value is how many it got.
    fn take_pages(&self, pages: u64) -> Result<u64, Error>;
}

/// What is asked of the clerk, who asks the till.
#[cairn::interface]
pub trait Desk {
    /// All that the till can do, as it should be.
    fn check(&self) -> Result<(), Error>;
    /// Which of the checks failed last; 0: none.
    fn failed(&self) -> Result<u64, Error>;
    /// Adds to the till.
    fn deposit(&self, amount: u64) -> Result<u64, Error>;
    /// The sum of the bytes, which the till makes of the caller's memory.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Writes the first word of the section `notice`; the value is what was there.
    fn write_notice(&self, word: u64) -> Result<u64, Error>;
    /// Whether the import is there that the description leaves out, and what one sums seven bytes to that it does not.
    fn options(&self) -> Result<(bool, u64), Error>;
    /// Lets the till break down.
    fn break_till(&self) -> Result<(), Error>;
    /// How often the clerk's main function began in this life, and how often the till's did.
    fn begun(&self) -> Result<(u64, u64), Error>;
    /// Takes so many pages, and keeps them. The value is how many it got.
    fn take_pages(&self, pages: u64) -> Result<u64, Error>;
}
