//! What the keeper of addresses and its judge agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Uses addresses, also when their time has passed.
#[cairn::interface]
pub trait Keeper {
    /// Loads the first word of the window, and answers where the window is.
    fn place(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Loads the first word of the window.
    fn first_word(&self, bytes: &[u8]) -> Result<u64, Error>;
    /// Stores a word in the window's beginning, and answers where the window is.
    fn fill(&self, bytes: &mut [u8], word: u64) -> Result<u64, Error>;
    /// Loads the word at an address.
    fn load(&self, address: u64) -> Result<u64, Error>;
    /// Stores a word at an address.
    fn store(&self, address: u64, word: u64) -> Result<u64, Error>;
    /// Gets a page of memory and uses it; answers where it is.
    fn take_page(&self) -> Result<u64, Error>;
    /// Uses the page a last time and gives it back.
    fn give_page(&self, address: u64) -> Result<(), Error>;
    /// Gives the page back and loads its first word then.
    fn give_page_and_load(&self, address: u64) -> Result<u64, Error>;
}
