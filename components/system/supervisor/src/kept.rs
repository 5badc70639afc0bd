//! The last of what the supervisor said, in memory that a reset keeps: the next boot finds it there, or whatever such memory
//! has when the power comes, so nothing of it is believed.
//!
//! It is a ring of pieces, numbered from 1, each with a checksum, behind a first one that says up to which they were
//! shown. A reset can come between any two stores: the last piece is shorter then.

use core::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::*};

/// Words of a piece: its number, its mark, its text.
const PIECE: usize = 32;
const NUMBER: usize = 0;
/// A checksum of number and text, and below it how many bytes the text has, and whether it begins a line.
const MARK: usize = 1;
const BEGINS: usize = 1 << 16;
const TEXT: usize = 2;
/// Bytes that a piece has room for.
const TEXT_SIZE: usize = (PIECE - TEXT) * 8;
/// No piece has a higher number, so that none overflows.
const NUMBER_MAXIMUM: u64 = 1 << 62;

/// What each line of before begins with, and what is not the beginning of a line: there stands what others wrote, which
/// may look like a report.
const BEFORE: &[u8] = b"before the reset: ";
const FURTHER: &[u8] = b"before the reset: ...";
/// Bytes that are shown at once: a line, or as much of it as there is room for.
const TOGETHER: usize = 256;

/// Where it writes and shows; the memory itself is an argument, always the same one. One thread writes, another shows.
pub struct Kept {
    /// The piece that is written.
    number: AtomicU64,
    length: AtomicUsize,
    sum: AtomicU64,
    /// [`BEGINS`] or nothing: of that piece, and of what is written next.
    begins: AtomicUsize,
    next_begins: AtomicUsize,
    /// The next piece of before to be shown, and behind the last.
    next: AtomicU64,
    end: AtomicU64,
}

impl Kept {
    /// It has not [begun](Kept::begin).
    pub const fn new() -> Self {
        Kept {
            number: AtomicU64::new(0),
            length: AtomicUsize::new(0),
            sum: AtomicU64::new(0),
            begins: AtomicUsize::new(0),
            next_begins: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }

    /// Looks for what was written before; what is written from now on comes behind it.
    pub fn begin(&self, memory: &[AtomicI64]) {
        self.length.store(TEXT_SIZE, Relaxed);
        self.next_begins.store(BEGINS, Relaxed);
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
                self.begins.store(self.next_begins.load(Relaxed), Relaxed);
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
            store(&piece[MARK], mark(sum, length | self.begins.load(Relaxed)));
            self.next_begins.store(if now.ends_with(b"\n") { BEGINS } else { 0 }, Relaxed);
            bytes = rest;
        }
    }

    /// Shows what was written before, each of its lines marked, and once.
    pub fn show(&self, memory: &[AtomicI64], mut show: impl FnMut(&[u8])) {
        let (mut line, mut length) = ([0; TOGETHER], 0);
        let mut end = |line: &mut [u8; TOGETHER], length: &mut usize| {
            if *length > 0 {
                line[*length] = b'\n';
                show(&line[..=*length]);
                *length = 0;
            }
        };
        // Whether what comes begins a line, and whether it follows what came.
        let (mut begins, mut follows) = (false, false);
        while self.is_due() {
            let number = self.next.load(Relaxed);
            let found = read(memory, number);
            if let Some(found) = &found {
                if found.begins || !follows {
                    end(&mut line, &mut length);
                    begins = found.begins;
                }
                for byte in &found.text[..found.length] {
                    if length == 0 && (*byte != b'\n' || begins) {
                        let mark = if begins { BEFORE } else { FURTHER };
                        line[..mark.len()].copy_from_slice(mark);
                        length = mark.len();
                    }
                    if *byte == b'\n' {
                        end(&mut line, &mut length);
                        begins = true;
                        continue;
                    }
                    line[length] = if matches!(byte, b' '..=b'~') { *byte } else { b'?' };
                    length += 1;
                    if length == TOGETHER - 1 {
                        end(&mut line, &mut length);
                        begins = false;
                    }
                }
            }
            follows = found.is_some();
            store(&memory[NUMBER], number);
            store(&memory[MARK], !number);
            self.next.store(number + 1, Relaxed);
        }
        end(&mut line, &mut length);
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

/// What is read of a piece.
struct Found {
    text: [u8; TEXT_SIZE],
    length: usize,
    begins: bool,
}

/// A piece; `None` if it is not there any more, or never was.
fn read(memory: &[AtomicI64], number: u64) -> Option<Found> {
    let piece = piece(memory, number);
    let known = load(&piece[MARK]);
    let (length, begins) = (known as usize & (BEGINS - 1), known as usize & BEGINS);
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
    let is_there = known == mark(checksum(number, &text[..length]), length | begins);
    is_there.then_some(Found { text, length, begins: begins != 0 })
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
    u64::from((sum as u32 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
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
    fn no_line_looks_like_a_report_but_one() {
        const FORGED: &str = "supervisor: `innocent` was killed";
        let forged = |shown: &str| shown.contains(&format!("before the reset: {FORGED}"));
        for before in 0..2 * TEXT_SIZE {
            let memory = memory(4, 1);
            let line = format!("supervisor: {:->before$}{FORGED}", "");
            // A line that is cut; one that was not whole at the reset; one whose beginning is not kept any more, or lost.
            let (kept, _) = boot(&memory);
            kept.write(&memory, line.as_bytes());
            let (kept, shown) = boot(&memory);
            let whole = shown.replace("\nbefore the reset: ...", "");
            assert!(!forged(&shown) && whole.contains(FORGED), "{before}: {shown}");
            (0..4).for_each(|_| kept.write(&memory, line.as_bytes()));
            kept.write(&memory, b"\n");
            assert!(!forged(&boot(&memory).1), "{before}");
            let kept = boot(&memory).0;
            kept.write(&memory, line.as_bytes());
            let first = piece(&memory, kept.number.load(Relaxed) - before as u64 % 2);
            first[TEXT].fetch_xor(1, Relaxed);
            assert!(!forged(&boot(&memory).1), "{before}");
            boot(&memory).0.write(&memory, b"half of a line");
            let kept = Kept::new();
            kept.begin(&memory);
            kept.write(&memory, FORGED.as_bytes());
            assert!(forged(&boot(&memory).1), "{before}: what begins a line is one");
        }
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
