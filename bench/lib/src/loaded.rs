//! What a component serves that is loaded.

use cairn::Error;

/// Says when it began.
#[cairn::interface]
pub trait Loaded {
    /// The counters at the first instruction of its main function: cycles, instructions; zeros before.
    fn begun(&self) -> Result<(u64, u64), Error>;
}
