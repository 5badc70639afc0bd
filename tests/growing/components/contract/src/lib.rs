//! What those serve whose stacks for calls grow.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Calls itself.
#[cairn::interface]
pub trait Deep {
    /// So many levels of half a KiB and more; how many it came.
    fn dive(&self, levels: u64) -> Result<u64, Error>;
}
