//! What judges ask of those who miss pages.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};

/// Uses a section.
#[cairn::interface]
pub trait Probe {
    /// Its bytes.
    fn size(&self) -> Result<u64, Error>;
    /// The word at an offset.
    fn load(&self, offset: u64) -> Result<u64, Error>;
    /// Writes it.
    fn store(&self, offset: u64, word: u64) -> Result<(), Error>;
    /// Writes a word to each of the first so many pages; how many had something else than zero there.
    fn fill(&self, pages: u64, word: u64) -> Result<u64, Error>;
}

/// Calls until the other one lives again, for at most so many microseconds.
pub fn when_it_lives<T>(microseconds: u64, mut call: impl FnMut() -> Result<T, Error>) -> T {
    let end = now() + ticks(microseconds);
    loop {
        match call() {
            Ok(value) => return value,
            Err(Error::Dead) if now() < end => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}
