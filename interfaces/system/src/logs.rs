//! What instances have logged.

use cairn::{Error, InstanceId};

/// The logs of all instances, of those that have ended too.
#[cairn::interface]
pub trait Logs {
    /// The next record of an instance from a place on, 0 at first: its text, behind the target if it has one, fills the buffer.
    /// Without a record there, the level is 0; at the end, `next` is the place itself. Of records that are written faster
    /// than they are read, the oldest are left out.
    fn read(&self, instance: InstanceId, place: u64, text: &mut [u8]) -> Result<LogRecord, Error>;
    /// Up to which level an instance writes records: 0, none, to 5, all.
    fn level(&self, instance: InstanceId) -> Result<u8, Error>;
    /// Changes it, until the machine stops.
    fn set_level(&self, instance: InstanceId, level: u8) -> Result<(), Error>;
}

/// A record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct LogRecord {
    /// The place from which to read on.
    pub next: u64,
    /// When it was written, in ticks.
    pub time: u64,
    /// Its level: 1, an error, to 5; 0: there is no record.
    pub level: u8,
    /// Bytes of its text.
    pub length: usize,
}
