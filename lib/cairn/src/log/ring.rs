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

    /// Writes a record over the oldest ones; what is longer than a record can be is cut.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    fn words(count: usize) -> Vec<AtomicI64> {
        (0..count).map(|_| AtomicI64::new(0)).collect()
    }

    fn all(ring: Ring<'_>, mut from: u64) -> (Vec<(u8, String)>, u64) {
        let (mut records, mut text) = (Vec::new(), [0; TEXT_MAXIMUM]);
        loop {
            match ring.read(from, 16, &mut text) {
                Found::Record { head, next, .. } => {
                    let text = String::from_utf8_lossy(&text[..head.length as usize]).into_owned();
                    records.push((head.target, text));
                    from = next;
                }
                Found::Nothing(next) => {
                    assert!(next > from || from > ring.0[BEGUN].load(Relaxed) as u64);
                    from = next;
                }
                Found::End => return (records, from),
            }
        }
    }

    #[test]
    fn records_come_back_in_order_and_the_oldest_go_first() {
        let words = words(128);
        let ring = Ring::new(&words).unwrap();
        let mut from = 0;
        for number in 0..1000 {
            ring.write(3, b"me", std::format!("{number}").as_bytes(), number);
            let (records, end) = all(ring, from);
            assert_eq!(records, [(2, std::format!("me{number}"))]);
            from = end;
        }
        let (records, end) = all(ring, 0);
        assert_eq!((records.len(), end), (120 / 3, from), "as many as there is room for");
        assert_eq!(records.last().unwrap().1, "me999");
    }

    #[test]
    fn one_that_was_not_finished_is_all_that_is_lost() {
        let words = words(128);
        let ring = Ring::new(&words).unwrap();
        ring.write(1, b"a", b"first", 1);
        let second = words[BEGUN].load(Relaxed) as u64;
        ring.write(1, b"b", b"second", 2);
        ring.write(1, b"c", b"third", 3);
        ring.word(second).store(0, Relaxed);
        let texts: Vec<String> = all(ring, 0).0.into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["afirst", "cthird"]);
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let words = words(128);
        let ring = Ring::new(&words).unwrap();
        ring.write(5, &[b't'; 300], &[b'x'; 1000], 0);
        let (records, _) = all(ring, 0);
        assert_eq!((records[0].0, records[0].1.len()), (64, TEXT_MAXIMUM));
        assert!(Ring::new(&words[..RECORDS + 31]).is_none());
    }

    #[test]
    fn whatever_it_holds_reading_ends() {
        let words = words(128);
        let ring = Ring::new(&words).unwrap();
        let mut random = 88172645463325252u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let mut text = [0; TEXT_MAXIMUM];
        for _ in 0..10_000 {
            words.iter().for_each(|word| word.store(next() as i64, Relaxed));
            for begun in [next(), next() % 400, u64::MAX, 0] {
                words[BEGUN].store(begun as i64, Relaxed);
                let place = next();
                let head = Head { level: 3, target: 0, length: next() as u8 };
                ring.word(place).store(head.word(place) as i64, Relaxed);
                for from in [next(), place, begun, begun.wrapping_sub(7), 0, u64::MAX] {
                    ring.read(from, 16, &mut text);
                }
            }
        }
        for begun in [u64::MAX, u64::MAX - 3, 130] {
            words[BEGUN].store(begun as i64, Relaxed);
            all(ring, 0);
        }
    }
}
