//! What a component that stands between others is told, and asked.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// What it does with each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum Manner {
    /// It passes it on.
    Forward = 1,
    /// It answers an error.
    Drop = 2,
    /// It passes it on twice.
    Repeat = 3,
    /// It never answers.
    Keep = 4,
    /// It dies before it has passed it on.
    DieBefore = 5,
    /// It has passed it on, and dies before it answers.
    DieBehind = 6,
    /// It passes on words of its own, in all registers.
    Change = 7,
    /// It calls by an index that it was told for another call.
    Mistake = 8,
    /// It passes it on, and its own thread does so once more with the last that came by since it was told.
    Later = 9,
    /// It passes it on when it is told another manner.
    Wait = 10,
    /// It answers that all is well, and passes nothing on.
    Pretend = 11,
}

/// The one that stands there.
#[cairn::interface]
pub trait Between {
    /// From now on it does this.
    fn behave(&self, manner: Manner) -> Result<(), Error>;
    /// How many calls came by in this life, and the index of the last.
    fn passed(&self) -> Result<(u64, u64), Error>;
    /// What its own thread was answered last, when it passed on a call that had come by before.
    fn later(&self) -> Result<u64, Error>;
}
