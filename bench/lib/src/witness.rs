//! The interface of the component to which a critical section tells its misses.

use cairn::Error;

/// Uses what others share with it, and reports.
#[cairn::interface]
pub trait Witness {
    /// Works over more code and data than a TLB has entries for.
    fn disturb(&self) -> Result<u64, Error>;
    /// Takes a sample: so many misses.
    fn add(&self, misses: u64) -> Result<u64, Error>;
    /// Reports the samples since the last report as those of `WITNESSED[what]`.
    fn report(&self, what: u64) -> Result<u64, Error>;
    /// Nothing follows.
    fn end(&self) -> Result<u64, Error>;
}

/// What the samples are of: the first pass through a critical section after others ran, each later one, then calls there and
/// back through a chain of so many domains.
pub const WITNESSED: [&str; 5] =
    ["misses.first", "misses.later", "misses.npciii.2", "misses.npciii.4", "misses.npciii.8"];
