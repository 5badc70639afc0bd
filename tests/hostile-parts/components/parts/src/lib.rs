//! What takers and their judge agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Takes all that it can get, and keeps it. One method, so that the judge has room for the portals of all takers.
#[cairn::interface]
pub trait Taker {
    /// Does one of [`deed`], with its argument.
    fn take(&self, deed: u64, argument: u64) -> Result<u64, Error>;
}

/// What a taker can do.
pub mod deed {
    /// The number of its domain.
    pub const DOMAIN: u64 = 0;
    /// Opens timers until it is refused, at most so many; how many.
    pub const TIMERS: u64 = 1;
    /// Opens a timer and begins its period anew so many times, while nobody waits.
    pub const OWE: u64 = 2;
    /// Makes sections of a page until it is refused; how many.
    pub const SECTIONS: u64 = 3;
    /// Makes a section and offers it to this domain; its address.
    pub const OFFER: u64 = 4;
    /// Maps this section.
    pub const ACCEPT: u64 = 5;
    /// Opens terminals until it is refused, at most so many; how many.
    pub const TERMINALS: u64 = 6;
    /// Takes all pages, and gives every second one back; how many it keeps.
    pub const PAGES: u64 = 7;
}
