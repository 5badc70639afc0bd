//! The interface of the component that is called in the kernel domain.

use cairn::Error;
use cairn::cost::Cost;

/// Takes words and returns at once.
#[cairn::interface]
pub trait Inside {
    /// Does nothing with three words.
    fn pass(&self, first: u64, second: u64, third: u64) -> Result<u64, Error>;
    /// What it takes itself in such a call, from its entry to where it returns to.
    fn own_cost(&self) -> Result<Cost, Error>;
}
