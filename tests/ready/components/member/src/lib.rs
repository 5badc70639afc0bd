//! The interface of components that prepare before they serve, and the section by which it is decided when.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Who has prepared something.
#[cairn::interface]
pub trait Member {
    /// What it has prepared: one more than what the one before it has.
    fn value(&self) -> Result<u64, Error>;
    /// The same, after so many microseconds.
    fn value_after(&self, microseconds: u64) -> Result<u64, Error>;
}

/// Where the section has the number of a member's lives, whether its gate is open, and whether it went through in this life.
pub const fn lives(gate: u64) -> usize {
    gate as usize * 24
}
pub const fn open(gate: u64) -> usize {
    lives(gate) + 8
}
pub const fn passed(gate: u64) -> usize {
    lives(gate) + 16
}

/// What a member adds whose call of its peer was answered, or refused since that waits for it.
pub const ANSWERED: u64 = 10;
pub const REFUSED: u64 = 20;
