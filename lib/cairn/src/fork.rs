//! What returns twice: in a component, and in a copy of it that has the same addresses (`LoaderProxy::domain_fork`).

#[cfg(target_os = "none")]
use crate::arch::fork as machine;
use crate::{Error, InstanceId};
pub use cairn_abi::fork::Quotas;

/// In which of the two a thread is behind a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In the component that made the copy: its number.
    Parent(InstanceId),
    /// In the copy.
    Child,
}

/// Where the copy's first thread goes on.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its first instruction.
    pub begins: u64,
    /// Its stack pointer: below it is nothing that it needs.
    pub stack: u64,
}

/// Has a copy made that goes on where this returns.
#[cfg(target_os = "none")]
pub fn split(make: impl FnOnce(Point) -> Result<InstanceId, Error>) -> Result<Side, Error> {
    machine::split(make)
}

/// On the host nothing is copied: the parent's side.
#[cfg(not(target_os = "none"))]
pub fn split(make: impl FnOnce(Point) -> Result<InstanceId, Error>) -> Result<Side, Error> {
    make(Point { begins: 0, stack: 0 }).map(Side::Parent)
}
