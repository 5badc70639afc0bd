//! The interface of a component that calls whatever portal.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Who calls for others.
#[cairn::interface]
pub trait Prober {
    /// Calls the portal at this index, having changed registers that its caller needs again; the status.
    fn call(&self, index: u64) -> Result<u64, Error>;
}
