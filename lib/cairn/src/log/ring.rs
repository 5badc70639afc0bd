//! The ring of a log: what writes it in the instance, and what reads it elsewhere. [`cairn_abi::log`] says what is where.
// Relaxed: the fences around them order the words of records; the level is a filter only.

use cairn_abi::log::{BEGUN, Head, LEVEL, RECORD_WORDS, RECORDS, TARGET_MAXIMUM, TEXT_MAXIMUM};
use core::sync::atomic::{
    AtomicI64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// The words of a ring.
#[derive(Clone, Copy)]
pub struct Ring<'words>(&'words [AtomicI64]);

/// What a step of reading has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A record, whose text was copied.
    Record {
        /// Its first word.
        head: Head,
        /// When it was written, in ticks.
        time: u64,
        /// Where to read on.
        next: u64,
    },
    /// None before this place.
    Nothing(u64),
    /// No more have been begun.
    End,
}

impl<'words> Ring<'words> {
    /// `None` if these are fewer words than any record needs.
    pub fn new(words: &'words [AtomicI64]) -> Option<Ring<'words>> {
        let smallest = RECORDS + RECORD_WORDS as usize + TEXT_MAXIMUM / 8;
        (words.len() >= smallest).then_some(Ring(words))
    }

    fn size(self) -> u64 {
        (self.0.len() - RECORDS) as u64
    }

    fn word(self, place: u64) -> &'words AtomicI64 {
        &self.0[RECORDS + (place % self.size()) as usize]
    }

    /// The number of the last level that is written.
    pub fn level(self) -> u8 {
        self.0[LEVEL].load(Relaxed) as u8
    }

    /// Changes it.
    pub fn set_level(self, level: u8) {
        self.0[LEVEL].store(level.into(), Relaxed);
    }

    /// Writes a record over the oldest ones; what is longer than a record can be is cut. A thread that is stopped here
    /// while others fill the whole ring spoils the text of a record of theirs.
    pub fn write(self, level: u8, target: &[u8], text: &[u8], time: u64) {
        let target = &target[..target.len().min(TARGET_MAXIMUM)];
        let text = &text[..text.len().min(TEXT_MAXIMUM - target.len())];
        let (target_length, length) = (target.len() as u8, (target.len() + text.len()) as u8);
        let head = Head { level, target: target_length, length };
        let place = self.0[BEGUN].fetch_add(head.words() as i64, Relaxed) as u64;
        // A reader that finds a word of this record finds `BEGUN` behind it as well.
        fence(Release);
        self.word(place.wrapping_add(1)).store(time as i64, Relaxed);
        let mut bytes = target.iter().chain(text);
        for word in RECORD_WORDS..head.words() {
            let mut packed = [0; 8];
            packed.iter_mut().zip(&mut bytes).for_each(|(place, byte)| *place = *byte);
            self.word(place.wrapping_add(word)).store(i64::from_le_bytes(packed), Relaxed);
        }
        self.word(place).store(head.word(place) as i64, Release);
    }

    /// The first record from `from` on of those that are still there, or none in the next `most` words. Fills `text` with its
    /// target and its text.
    pub fn read(self, from: u64, most: u64, text: &mut [u8; TEXT_MAXIMUM]) -> Found {
        let begun = self.0[BEGUN].load(Acquire) as u64;
        let oldest = begun.saturating_sub(self.size());
        // What somebody says that is not so, too, leads to what is there.
        let from = if from < oldest || from > begun { oldest } else { from };
        if from == begun {
            return Found::End;
        }
        let end = begun.min(from.saturating_add(most));
        for place in from..end {
            let Some(head) = Head::of(self.word(place).load(Acquire) as u64, place) else {
                continue;
            };
            let time = self.word(place.wrapping_add(1)).load(Relaxed) as u64;
            let words =
                (RECORD_WORDS..head.words()).map(|word| self.word(place.wrapping_add(word)));
            for (bytes, word) in text.chunks_mut(8).zip(words) {
                bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes()[..bytes.len()]);
            }
            fence(Acquire);
            let now = self.0[BEGUN].load(Relaxed) as u64;
            if now.wrapping_sub(place) > self.size() {
                // Written over meanwhile.
                return Found::Nothing(now.saturating_sub(self.size()));
            }
            return Found::Record { head, time, next: place.saturating_add(head.words()) };
        }
        Found::Nothing(end)
    }
}
