//! Text on its way to the console: one thread writes it, another reads what was given to it, neither waits. What is read are whole
//! lines, so that nobody else's text comes in the middle of one.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::*};

/// A ring of bytes for one writer and one reader.
pub struct Log<const SIZE: usize> {
    bytes: [AtomicU8; SIZE],
    written: AtomicUsize,
    /// Up to the end of the last whole line, and up to where it may be read.
    whole: AtomicUsize,
    given: AtomicUsize,
    read: AtomicUsize,
    /// Bytes of the line that is written, as far as they are not lost.
    column: AtomicUsize,
    /// A part of that line is lost.
    is_cut: AtomicBool,
    lost: AtomicU64,
}

impl<const SIZE: usize> Log<SIZE> {
    /// An empty ring.
    pub const fn new() -> Self {
        Log {
            bytes: [const { AtomicU8::new(0) }; SIZE],
            written: AtomicUsize::new(0),
            whole: AtomicUsize::new(0),
            given: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            column: AtomicUsize::new(0),
            is_cut: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    /// Writes as much of `bytes` as there is room for; the rest is lost and counted. A line of which a part is lost ends
    /// there: what stands further on in it is not to look like a line of its own. A line is whole with the write that ends with it.
    pub fn write(&self, mut bytes: &[u8]) {
        if self.is_cut.load(Relaxed) {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (lost, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            self.is_cut.store(end.is_none(), Relaxed);
            self.lost.fetch_add(lost.len() as u64, Relaxed);
            bytes = rest;
        }
        let (now, lost) = bytes.split_at(bytes.len().min(self.room()));
        self.add(now);
        if let Some(last) = lost.last() {
            if self.column() > 0 {
                self.add(b"\n");
            }
            self.is_cut.store(*last != b'\n', Relaxed);
            self.lost.fetch_add(lost.len() as u64, Relaxed);
        }
    }

    fn add(&self, bytes: &[u8]) {
        let written = self.written.load(Relaxed);
        let start = written % SIZE;
        let (head, rest) = bytes.split_at(bytes.len().min(SIZE - start));
        let store = |(place, byte): (&AtomicU8, &u8)| place.store(*byte, Relaxed);
        self.bytes[start..].iter().zip(head).for_each(store);
        self.bytes.iter().zip(rest).for_each(store);
        self.written.store(written.wrapping_add(bytes.len()), Relaxed);
        if bytes.ends_with(b"\n") {
            self.column.store(0, Relaxed);
            self.whole.store(written.wrapping_add(bytes.len()), Release);
        } else {
            self.column.store(self.column() + bytes.len(), Relaxed);
        }
    }

    /// Bytes of the line that has not ended.
    pub fn column(&self) -> usize {
        self.column.load(Relaxed)
    }

    /// Copies the oldest lines that were not given yet into `buffer`, or as much of a line as it holds. They may be read when `first` has
    /// seen them. One thread at a time gives.
    pub fn give(&self, buffer: &mut [u8], first: impl FnOnce(&[u8])) {
        let given = self.given.load(Relaxed);
        let count = self.copy(given, self.whole.load(Acquire), buffer);
        first(&buffer[..count]);
        self.given.store(given.wrapping_add(count), Release);
    }

    /// Whether all whole lines were given.
    pub fn is_given(&self) -> bool {
        self.given.load(Acquire) == self.whole.load(Acquire)
    }

    /// Copies the oldest lines that were given into `buffer`, or as much of a line as it holds; how much.
    pub fn read(&self, buffer: &mut [u8]) -> usize {
        let read = self.read.load(Relaxed);
        let count = self.copy(read, self.given.load(Acquire), buffer);
        self.read.store(read.wrapping_add(count), Release);
        count
    }

    fn copy(&self, from: usize, to: usize, buffer: &mut [u8]) -> usize {
        let count = to.wrapping_sub(from).min(buffer.len());
        let start = from % SIZE;
        let (head, rest) = buffer[..count].split_at_mut(count.min(SIZE - start));
        let load = |(byte, place): (&mut u8, &AtomicU8)| *byte = place.load(Relaxed);
        head.iter_mut().zip(&self.bytes[start..]).for_each(load);
        rest.iter_mut().zip(&self.bytes).for_each(load);
        let lines = buffer[..count].iter().rposition(|byte| *byte == b'\n');
        lines.map_or(count, |last| last + 1)
    }

    /// Bytes for which there is room, and the end of a line.
    pub fn room(&self) -> usize {
        (SIZE - 1).saturating_sub(self.written.load(Relaxed).wrapping_sub(self.read.load(Acquire)))
    }

    /// No line to read?
    pub fn is_empty(&self) -> bool {
        self.given.load(Acquire) == self.read.load(Acquire)
    }

    /// Bytes that were lost since the last time this was asked.
    pub fn take_lost(&self) -> u64 {
        self.lost.swap(0, Relaxed)
    }
}

impl<const SIZE: usize> Default for Log<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SIZE: usize> fmt::Write for &Log<SIZE> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives all, and reads.
    fn read<const SIZE: usize>(log: &Log<SIZE>, buffer: &mut [u8]) -> usize {
        while !log.is_given() {
            log.give(&mut [0; 16], |_| {});
        }
        log.read(buffer)
    }

    #[test]
    fn keeps_order_and_counts_what_it_loses() {
        let log = Log::<8>::new();
        let mut buffer = [0; 16];
        for _ in 0..100 {
            log.write(b"abcd\n");
            assert_eq!(read(&log, &mut buffer[..3]), 3);
            assert_eq!(&buffer[..3], b"abc");
            log.write(b"fghijkl");
            assert_eq!(log.take_lost(), 2);
            assert_eq!(read(&log, &mut buffer), 8);
            assert_eq!(&buffer[..8], b"d\nfghij\n");
            assert!(log.is_empty());
            log.write(b"m");
            assert!(log.is_empty(), "that line is cut");
            log.write(b"n\no\n");
            assert_eq!(log.take_lost(), 3);
            assert_eq!(read(&log, &mut buffer), 2);
            assert_eq!(&buffer[..2], b"o\n");
        }
    }

    #[test]
    fn what_follows_a_loss_begins_at_a_line() {
        for filled in 0..9 {
            let log = Log::<8>::new();
            let mut buffer = [0; 16];
            (0..filled).for_each(|_| log.write(b"\n"));
            log.write(b"one:forged\n");
            log.write(b"two:");
            let count = read(&log, &mut buffer);
            log.write(b"forged\n");
            log.write(b"3\n");
            let more = read(&log, &mut buffer[count..]);
            let text = str::from_utf8(&buffer[..count + more]).unwrap();
            assert!(text.ends_with('\n') && !text.contains("\nforged"), "{filled}: {text}");
            assert!(text.lines().all(|line| "one:forged".starts_with(line) || line == "3"));
        }
    }

    #[test]
    fn room_comes_back_with_what_is_read() {
        let log = Log::<8>::new();
        log.write(b"abcd\n");
        assert_eq!(log.room(), 2);
        read(&log, &mut [0; 16]);
        assert_eq!(log.room(), 7);
    }

    #[test]
    fn what_is_read_ends_with_a_line() {
        let log = Log::<64>::new();
        let mut buffer = [0; 16];
        for _ in 0..100 {
            log.write(b"a line, of");
            assert!(log.is_empty(), "the other part is not written yet");
            assert_eq!(read(&log, &mut buffer), 0);
            log.write(b" 2\n");
            log.write(b"the next");
            assert_eq!(read(&log, &mut buffer), 13);
            assert_eq!(&buffer[..13], b"a line, of 2\n");
            log.write(b"\n1\n2\nlonger than the buffer\n");
            assert_eq!(read(&log, &mut buffer), 13, "all lines that it holds");
            assert_eq!(read(&log, &mut buffer), 16);
            assert_eq!(read(&log, &mut buffer), 7);
            assert_eq!(&buffer[..7], b"buffer\n");
        }
    }

    #[test]
    fn what_is_not_given_is_not_read() {
        let log = Log::<64>::new();
        let mut buffer = [0; 16];
        log.write(b"one\ntwo\n");
        assert_eq!((log.is_empty(), log.read(&mut buffer)), (true, 0));
        log.give(&mut [0; 6], |given| assert_eq!(given, b"one\n"));
        assert_eq!((log.is_given(), log.read(&mut buffer)), (false, 4));
        log.give(&mut [0; 16], |given| assert_eq!(given, b"two\n"));
        assert_eq!((log.is_given(), log.is_empty()), (true, false));
    }
}
