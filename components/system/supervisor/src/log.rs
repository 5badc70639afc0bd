//! Text on its way to the console: one thread writes, another reads, neither waits. What is read are whole lines, so
//! that nobody else's text comes in the middle of one.

use core::fmt;
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::*};

/// A ring of bytes for one writer and one reader.
pub struct Log<const SIZE: usize> {
    bytes: [AtomicU8; SIZE],
    written: AtomicUsize,
    /// Up to the end of the last whole line: what may be read.
    whole: AtomicUsize,
    read: AtomicUsize,
    lost: AtomicU64,
}

impl<const SIZE: usize> Log<SIZE> {
    /// An empty ring.
    pub const fn new() -> Self {
        Log {
            bytes: [const { AtomicU8::new(0) }; SIZE],
            written: AtomicUsize::new(0),
            whole: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Writes as much of `bytes` as there is room for; the rest is lost and counted. A line is whole with the write that ends
    /// with it.
    pub fn write(&self, bytes: &[u8]) {
        let written = self.written.load(Relaxed);
        let count = bytes.len().min(self.room());
        let start = written % SIZE;
        let (head, rest) = bytes[..count].split_at(count.min(SIZE - start));
        let store = |(place, byte): (&AtomicU8, &u8)| place.store(*byte, Relaxed);
        self.bytes[start..].iter().zip(head).for_each(store);
        self.bytes.iter().zip(rest).for_each(store);
        self.written.store(written.wrapping_add(count), Relaxed);
        // When it is full, nobody knows when the line ends.
        if count < bytes.len() || bytes.ends_with(b"\n") {
            self.whole.store(written.wrapping_add(count), Release);
        }
        self.lost.fetch_add((bytes.len() - count) as u64, Relaxed);
    }

    /// Copies the oldest lines into `buffer`, or as much of a line as it holds; how much.
    pub fn read(&self, buffer: &mut [u8]) -> usize {
        let read = self.read.load(Relaxed);
        let count = self.whole.load(Acquire).wrapping_sub(read).min(buffer.len());
        for (index, byte) in buffer[..count].iter_mut().enumerate() {
            *byte = self.bytes[read.wrapping_add(index) % SIZE].load(Relaxed);
        }
        let lines = buffer[..count].iter().rposition(|byte| *byte == b'\n');
        let count = lines.map_or(count, |last| last + 1);
        self.read.store(read.wrapping_add(count), Release);
        count
    }

    /// Bytes for which there is room.
    pub fn room(&self) -> usize {
        SIZE - self.written.load(Relaxed).wrapping_sub(self.read.load(Acquire))
    }

    /// No line to read?
    pub fn is_empty(&self) -> bool {
        self.whole.load(Acquire) == self.read.load(Acquire)
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

    #[test]
    fn keeps_order_and_counts_what_it_loses() {
        let log = Log::<8>::new();
        let mut buffer = [0; 16];
        for _ in 0..100 {
            log.write(b"abcd\n");
            assert_eq!(log.read(&mut buffer[..3]), 3);
            assert_eq!(&buffer[..3], b"abc");
            log.write(b"fghijkl");
            assert_eq!(log.take_lost(), 1);
            assert_eq!(log.read(&mut buffer), 2);
            assert_eq!(&buffer[..2], b"d\n");
            assert_eq!(log.read(&mut buffer), 6);
            assert_eq!(&buffer[..6], b"fghijk");
            assert!(log.is_empty());
        }
    }

    #[test]
    fn room_comes_back_with_what_is_read() {
        let log = Log::<8>::new();
        log.write(b"abcd\n");
        assert_eq!(log.room(), 3);
        log.read(&mut [0; 16]);
        assert_eq!(log.room(), 8);
    }

    #[test]
    fn what_is_read_ends_with_a_line() {
        let log = Log::<64>::new();
        let mut buffer = [0; 16];
        for _ in 0..100 {
            log.write(b"a line, of");
            assert!(log.is_empty(), "the other part is not written yet");
            assert_eq!(log.read(&mut buffer), 0);
            log.write(b" 2\n");
            log.write(b"the next");
            assert_eq!(log.read(&mut buffer), 13);
            assert_eq!(&buffer[..13], b"a line, of 2\n");
            log.write(b"\n1\n2\nlonger than the buffer\n");
            assert_eq!(log.read(&mut buffer), 13, "all lines that it holds");
            assert_eq!(log.read(&mut buffer), 16);
            assert_eq!(log.read(&mut buffer), 7);
            assert_eq!(&buffer[..7], b"buffer\n");
        }
    }
}
