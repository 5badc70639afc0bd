//! The interface of a component that uses the floating-point unit, or does not, when it is called.

use cairn::Error;
use cairn::cost::Cost;

/// What it may do.
#[cairn::interface]
pub trait Unit {
    /// Nothing.
    fn pass(&self, first: u64, second: u64, third: u64) -> Result<u64, Error>;
    /// What the first instruction of floating point of a call costs.
    fn first_use(&self) -> Result<Cost, Error>;
    /// What `pass` itself costs.
    fn own_cost(&self) -> Result<Cost, Error>;
}
