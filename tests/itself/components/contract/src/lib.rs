//! What calls itself.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error, InstanceId};

#[cairn::interface]
pub trait Mirror {
    /// Calls itself so often, each time on a stack of its own; how many different stacks that were, with the first.
    fn down(&self, depth: u64) -> Result<u64, Error>;
    /// Who called, at that depth.
    fn caller(&self, caller: Caller, depth: u64) -> Result<InstanceId, Error>;
    /// Dies at that depth.
    fn fall(&self, depth: u64) -> Result<(), Error>;
}
