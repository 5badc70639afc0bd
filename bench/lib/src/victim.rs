//! The interface of a component that faults.

use cairn::Error;

/// Faults when it is asked to.
#[cairn::interface]
pub trait Victim {
    /// Answers: it is alive.
    fn answer(&self) -> Result<(), Error>;
    /// Page fault; the first words of the section `faults` are the stamp right before.
    fn fault(&self) -> Result<u64, Error>;
}
