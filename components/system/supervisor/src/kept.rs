//! The last of what the supervisor said, in memory that a reset keeps: the next boot finds it there, or whatever such memory
//! has when the power comes, so nothing of it is believed.
//!
//! It is a ring of pieces, numbered from 1, each with a checksum, behind a first one that says up to which they were
//! shown. A reset can come between any two stores: the last piece is shorter then.

use core::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::*};

/// Words of a piece: its number, its mark, its text.
const PIECE: usize = 32;
const NUMBER: usize = 0;
/// A checksum of number and text, and below it how many bytes the text has.
const MARK: usize = 1;
const TEXT: usize = 2;
/// Bytes that a piece has room for.
const TEXT_SIZE: usize = (PIECE - TEXT) * 8;
/// No piece has a higher number, so that none overflows.
const NUMBER_MAXIMUM: u64 = 1 << 62;

/// What each line of before begins with.
const BEFORE: &[u8] = b"before the reset: ";
/// Bytes that are shown at once: a line, or as much of it as there is room for.
const TOGETHER: usize = 256;

/// Where it writes and shows; the memory itself is an argument, always the same one. One thread writes, another shows.
pub struct Kept {
    /// The piece that is written.
    number: AtomicU64,
    length: AtomicUsize,
    sum: AtomicU64,
    /// The next piece of before to be shown, and behind the last.
    next: AtomicU64,
    end: AtomicU64,
}

impl Kept {
    /// Nothing was there before.
    pub const fn new() -> Self {
        Kept {
            number: AtomicU64::new(0),
            length: AtomicUsize::new(TEXT_SIZE),
            sum: AtomicU64::new(0),
            next: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }

    /// Looks for what was written before; what is written from now on comes behind it.
    pub fn begin(&self, memory: &[AtomicI64]) {
        let count = pieces(memory).len() as u64;
        let numbers = pieces(memory).map(|piece| load(&piece[NUMBER]));
        let last = numbers.filter(|number| read(memory, *number).is_some()).max().unwrap_or(0);
        let shown = load(&memory[NUMBER]);
        let is_shown = load(&memory[MARK]) == !shown && shown < NUMBER_MAXIMUM;
        let shown = if is_shown { shown } else { 0 };
        let end = last.max(shown) + 1;
        self.number.store(end - 1, Relaxed);
        self.next.store((shown + 1).max(end.saturating_sub(count)), Relaxed);
        self.end.store(end, Relaxed);
    }

    /// Whether there is something of before to be shown.
    pub fn is_due(&self) -> bool {
        self.next.load(Relaxed) < self.end.load(Relaxed)
    }

    /// Adds to what is kept.
    pub fn write(&self, memory: &[AtomicI64], mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut length = self.length.load(Relaxed);
            let mut sum = self.sum.load(Relaxed);
            let mut number = self.number.load(Relaxed);
            if length == TEXT_SIZE {
                number += 1;
                let piece = piece(memory, number);
                store(&piece[MARK], 0);
                store(&piece[NUMBER], number);
                self.number.store(number, Relaxed);
                (length, sum) = (0, checksum(number, &[]));
            }
            let piece = piece(memory, number);
            let (now, rest) = bytes.split_at(bytes.len().min(TEXT_SIZE - length));
            // To the end of a word that is not full, then word by word.
            let (first, others) = now.split_at(now.len().min((8 - length % 8) % 8));
            for part in
                Some(first).into_iter().chain(others.chunks(8)).filter(|one| !one.is_empty())
            {
                let (word, mut shift) = (&piece[TEXT + length / 8], length % 8 * 8);
                let mut value = if shift == 0 { 0 } else { load(word) & !(u64::MAX << shift) };
                for byte in part {
                    value |= u64::from(*byte) << shift;
                    shift += 8;
                    sum = add(sum, *byte);
                }
                store(word, value);
                length += part.len();
            }
            self.length.store(length, Relaxed);
            self.sum.store(sum, Relaxed);
            store(&piece[MARK], mark(sum, length));
            bytes = rest;
        }
    }

    /// Shows what was written before, each of its lines marked, and once.
    pub fn show(&self, memory: &[AtomicI64], mut show: impl FnMut(&[u8])) {
        let (mut line, mut length) = ([0; TOGETHER], 0);
        while self.is_due() {
            let number = self.next.load(Relaxed);
            let text = read(memory, number);
            for byte in text.iter().flat_map(|(text, length)| &text[..*length]) {
                if length == 0 {
                    line[..BEFORE.len()].copy_from_slice(BEFORE);
                    length = BEFORE.len();
                }
                if *byte != b'\n' {
                    line[length] = if matches!(byte, b' '..=b'~') { *byte } else { b'?' };
                    length += 1;
                }
                if *byte == b'\n' || length == TOGETHER - 1 {
                    line[length] = b'\n';
                    show(&line[..=length]);
                    length = 0;
                }
            }
            store(&memory[NUMBER], number);
            store(&memory[MARK], !number);
            self.next.store(number + 1, Relaxed);
        }
        if length > 0 {
            line[length] = b'\n';
            show(&line[..=length]);
        }
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self::new()
    }
}

/// All pieces; the first is none of them.
fn pieces(memory: &[AtomicI64]) -> impl ExactSizeIterator<Item = &[AtomicI64]> {
    memory[PIECE..].chunks_exact(PIECE)
}

/// Where the piece of that number lies.
fn piece(memory: &[AtomicI64], number: u64) -> &[AtomicI64] {
    let place = number as usize % pieces(memory).len();
    &memory[(1 + place) * PIECE..][..PIECE]
}

/// The text of a piece, and how long it is; `None` if it is not there any more, or never was.
fn read(memory: &[AtomicI64], number: u64) -> Option<([u8; TEXT_SIZE], usize)> {
    let piece = piece(memory, number);
    let known = load(&piece[MARK]);
    let length = (known & 0xffff_ffff) as usize;
    if !(1..NUMBER_MAXIMUM).contains(&number)
        || load(&piece[NUMBER]) != number
        || length > TEXT_SIZE
    {
        return None;
    }
    let mut text = [0; TEXT_SIZE];
    for (bytes, word) in text.chunks_exact_mut(8).zip(&piece[TEXT..]) {
        bytes.copy_from_slice(&load(word).to_le_bytes());
    }
    // Of what was copied: another may be written in its place meanwhile.
    (known == mark(checksum(number, &text[..length]), length)).then_some((text, length))
}

// The order of stores is what a reset leaves.
fn load(word: &AtomicI64) -> u64 {
    word.load(Acquire) as u64
}

fn store(word: &AtomicI64, value: u64) {
    word.store(value as i64, Release);
}

fn mark(sum: u64, length: usize) -> u64 {
    sum << 32 | length as u64
}

/// Fowler, Noll and Vo's hash, version 1a, of 32 bits: byte by byte, as the text is written.
fn checksum(number: u64, text: &[u8]) -> u64 {
    number.to_le_bytes().iter().chain(text).fold(0x811c_9dc5, |sum, byte| add(sum, *byte))
}

fn add(sum: u64, byte: u8) -> u64 {
    ((sum ^ u64::from(byte)) * 0x0100_0193) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of so many pieces, full of what a generator of random words gives.
    fn memory(count: usize, mut state: u64) -> Vec<AtomicI64> {
        let mut word = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            AtomicI64::new(state as i64)
        };
        (0..(count + 1) * PIECE).map(|_| word()).collect()
    }

    /// A boot: what it shows of before.
    fn boot(memory: &[AtomicI64]) -> (Kept, String) {
        let (kept, mut shown) = (Kept::new(), Vec::new());
        kept.begin(memory);
        kept.show(memory, |line| shown.extend(line));
        assert!(!kept.is_due());
        (kept, String::from_utf8(shown).expect("printable"))
    }

    #[test]
    fn what_was_written_is_shown_once() {
        for seed in [0, 1, 2] {
            let memory = memory(4, seed);
            let (kept, shown) = boot(&memory);
            assert_eq!(shown, "", "power has just come");
            kept.write(&memory, b"one\ntwo");
            kept.write(&memory, b", and more\nnot at its end");
            let (kept, shown) = boot(&memory);
            let lines = ["one", "two, and more", "not at its end"];
            assert_eq!(shown, lines.map(|line| format!("before the reset: {line}\n")).concat());
            kept.write(&memory, b"the next");
            assert_eq!(boot(&memory).1, "before the reset: the next\n");
            assert_eq!(boot(&memory).1, "");
        }
    }

    #[test]
    fn what_was_not_shown_is_shown_at_the_next_boot() {
        let memory = memory(4, 1);
        boot(&memory).0.write(&memory, b"one\n");
        let kept = Kept::new();
        kept.begin(&memory);
        kept.write(&memory, b"two\n");
        assert_eq!(boot(&memory).1, "before the reset: one\nbefore the reset: two\n");
    }

    #[test]
    fn the_last_is_kept_and_long_lines_are_cut() {
        let memory = memory(4, 1);
        let (kept, _) = boot(&memory);
        (0..1000).for_each(|line| kept.write(&memory, format!("line {line}\n").as_bytes()));
        let (kept, shown) = boot(&memory);
        assert!(shown.ends_with("before the reset: line 998\nbefore the reset: line 999\n"));
        assert!(shown.len() > 3 * TEXT_SIZE);
        kept.write(&memory, &[b'x'; 900]);
        let shown = boot(&memory).1;
        assert_eq!(shown.matches('x').count(), 900);
        assert!(shown.lines().all(|line| line.len() < TOGETHER && line.starts_with("before")));
    }

    #[test]
    fn what_a_word_has_lost_ends_no_other_piece() {
        for lost in 0..5 * PIECE {
            let memory = memory(4, 7);
            boot(&memory).0.write(&memory, &[b'a'; 3 * TEXT_SIZE]);
            memory[lost].fetch_xor(0x20, Relaxed);
            let (kept, shown) = boot(&memory);
            assert!(shown.matches('a').count() >= 2 * TEXT_SIZE, "{lost}: {shown}");
            assert!(shown.chars().all(|letter| letter == '\n' || (' '..='~').contains(&letter)));
            kept.write(&memory, b"afterwards");
            assert!(boot(&memory).1.ends_with("before the reset: afterwards\n"), "{lost}");
        }
    }

    #[test]
    fn terminals_get_no_commands() {
        let memory = memory(4, 1);
        boot(&memory).0.write(&memory, b"\x1b[2J\r\xff");
        assert_eq!(boot(&memory).1, "before the reset: ?[2J??\n");
    }

    #[test]
    fn numbers_that_nobody_gave_are_not_believed() {
        for number in [0, NUMBER_MAXIMUM, u64::MAX] {
            let memory = memory(4, 1);
            store(&memory[NUMBER], number);
            store(&memory[MARK], !number);
            let piece = piece(&memory, number);
            store(&piece[NUMBER], number);
            store(&piece[MARK], mark(checksum(number, &[]), 0));
            let (kept, shown) = boot(&memory);
            assert_eq!(shown, "", "{number:#x}");
            kept.write(&memory, b"more");
            assert_eq!(boot(&memory).1, "before the reset: more\n");
        }
    }
}
