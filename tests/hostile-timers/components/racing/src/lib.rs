//! What a racer and its judge agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// For [`Link`], in the place of a time: the urgent thread waits for the timer, and the other, which can call nobody for
/// that, shall wake it.
pub const WAKE: u64 = u64::MAX;

/// A client of the clock whose threads are in each other's way.
#[cairn::interface]
pub trait Racer {
    /// Interrupts the thread that opens a timer so many ticks after it began, which was so many turns later than it
    /// could.
    fn open(&self, ticks: u64, turns: u64) -> Result<(), Error>;
}

/// Takes room of the calling thread's invocation stack, and has the last in the row wait for a timer, which a more
/// urgent thread changes so many ticks later. The value is whether the thread is where it can call the clock, which can
/// call nobody for it.
#[cairn::interface]
pub trait Link {
    /// The first `wide` links take more room, by buffers.
    fn wide(&self, wide: u64, ticks: u64, one: &[u8], two: &[u8]) -> Result<bool, Error>;
    /// Less room.
    fn narrow(&self, wide: u64, ticks: u64) -> Result<bool, Error>;
}
