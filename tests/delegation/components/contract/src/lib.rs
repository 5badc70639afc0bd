//! What the components of this test serve each other.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// What the gate does when it is asked.
pub mod mode {
    /// Admits who asks.
    pub const ALLOW: u64 = 0;
    /// Refuses.
    pub const REFUSE: u64 = 1;
    /// Never answers.
    pub const SILENT: u64 = 2;
    /// Says yes, but admits nobody.
    pub const FORGET: u64 = 3;
}

/// How the test steers the gate.
#[cairn::interface]
pub trait Gate {
    /// One of the modes.
    fn set_mode(&self, mode: u64) -> Result<(), Error>;
    /// How often it was asked.
    fn asked(&self) -> Result<u64, Error>;
    /// Takes an admission back, and what was opened by it.
    fn dismiss(&self, client: u64) -> Result<(), Error>;
}

/// What the gate registers as `gate.treasure`, with the policy `ask`.
#[cairn::interface]
pub trait Treasure {
    /// The answer is 42.
    fn look(&self) -> Result<u64, Error>;
}

/// Opens the treasure, looks, and closes it, on the caller's thread.
#[cairn::interface]
pub trait Visitor {
    /// What it saw.
    fn visit(&self) -> Result<u64, Error>;
}
