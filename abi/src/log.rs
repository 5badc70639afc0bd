//! The ring of an instance's log, at [`crate::address::LOG_OFFSET`] of its region and in the view of who has the role `logs`.
//!
//! Words of 64 bits. The instance writes what it likes, so a reader believes nothing. A record is [`RECORD_WORDS`] words and its
//! text, whole words; one ends where the next begins, around the end of the ring. Its first word is written last: who ends while it
//! writes leaves a record without it, which readers pass. It names the record's own place, so a reader who begins anywhere finds
//! the next record by it.

use core::fmt;

/// Which records are written: the numbers of levels up to this one. A filter of the reader's, which lies here so that a record
/// that is not wanted costs nothing.
pub const LEVEL: usize = 0;
/// How many words of records have been begun since the system started.
pub const BEGUN: usize = 1;
/// The first word of the records.
pub const RECORDS: usize = 8;

/// Words of a record before its text: [`Head`], and when it was written, in ticks.
pub const RECORD_WORDS: u64 = 2;
/// Most bytes of a record's text, with the target.
pub const TEXT_MAXIMUM: usize = 240;
/// Most bytes of a target.
pub const TARGET_MAXIMUM: usize = 64;

/// The levels by their numbers.
pub const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// When a record was written and its level, as people read them: seconds, and the level's name.
pub struct Stamp {
    /// When it was written, in ticks.
    pub time: u64,
    /// Ticks in a second, at least 1.
    pub time_base: u64,
    /// Number of its level; others than those of [`LEVELS`] are shown as `?`.
    pub level: u8,
}

impl fmt::Display for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (seconds, rest) = (self.time / self.time_base, self.time % self.time_base);
        let micros = u128::from(rest) * 1_000_000 / u128::from(self.time_base);
        let level = LEVELS.get(usize::from(self.level)).unwrap_or(&"?");
        write!(formatter, "{seconds:>5}.{micros:06} {level:5}")
    }
}

/// What the first word of a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of its level, from 1 on.
    pub level: u8,
    /// Bytes of the target, with which the text begins.
    pub target: u8,
    /// Bytes of the text with the target, at most [`TEXT_MAXIMUM`].
    pub length: u8,
}

impl Head {
    /// Bits below those of the record's place.
    pub const BITS: u32 = 24;

    /// The word of a record that begins at `place`, counted as [`BEGUN`] is.
    pub const fn word(self, place: u64) -> u64 {
        place << Self::BITS
            | (self.length as u64) << 16
            | (self.target as u64) << 8
            | self.level as u64
    }

    /// What a word says that a record at `place` would begin with, if it does.
    pub const fn of(word: u64, place: u64) -> Option<Head> {
        let head =
            Head { level: word as u8, target: (word >> 8) as u8, length: (word >> 16) as u8 };
        let is_good = word >> Self::BITS == place << Self::BITS >> Self::BITS
            && head.level > 0
            && (head.level as usize) < LEVELS.len()
            && head.target <= head.length
            && head.length as usize <= TEXT_MAXIMUM;
        if is_good { Some(head) } else { None }
    }

    /// Words of the whole record.
    pub const fn words(self) -> u64 {
        RECORD_WORDS + (self.length as u64).div_ceil(8)
    }
}
