//! What a vault, a courier and their client agree on. A capability is a number: to each of them one of its own, which the manager
//! between them turns into the other's.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error};

/// Keeps values.
#[cairn::interface]
pub trait Vault {
    /// Puts a value in: a capability for it.
    fn put(&self, value: u64) -> Result<u64, Error>;
    /// The value that a capability is for.
    fn value(&self, capability: u64) -> Result<u64, Error>;
    /// Changes it.
    fn change(&self, capability: u64, value: u64) -> Result<(), Error>;
}

/// Carries what it is handed, and tries what it is not.
#[cairn::interface]
pub trait Courier {
    /// Takes a capability; the value is the number by which this one knows it, no capability of its caller's.
    fn hand(&self, capability: u64) -> Result<u64, Error>;
    /// Hands back what it was handed last.
    fn back(&self) -> Result<u64, Error>;
    /// Asks the vault for the value of this number.
    fn look(&self, number: u64) -> Result<u64, Error>;
    /// Changes it.
    fn change(&self, number: u64, value: u64) -> Result<(), Error>;
}

/// The capability manager, for who has a capability.
#[cairn::interface]
pub trait Capabilities {
    /// A capability of the caller's for the same, with these rights, or what the one that it came of has of them.
    fn derive(&self, caller: Caller, capability: u64, rights: Rights) -> Result<u64, Error>;
    /// Takes back what came of a capability of the caller's, wherever it was passed since; how many.
    fn revoke(&self, caller: Caller, capability: u64) -> Result<u64, Error>;
}

/// What may be done with a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct Rights {
    /// [`Rights::LOOK`], [`Rights::CHANGE`].
    pub methods: u32,
    /// How many calls may be made with it, and with what comes of it; the highest number: any.
    pub calls: u32,
    /// Through how many hands it may go.
    pub hands: u32,
}

impl Rights {
    /// To ask for the value.
    pub const LOOK: u32 = 1;
    /// To change it.
    pub const CHANGE: u32 = 2;
    /// All.
    pub const ALL: Rights = Rights { methods: u32::MAX, calls: u32::MAX, hands: u32::MAX };
}
