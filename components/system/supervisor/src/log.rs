//! Text on its way to the console: one thread writes, another reads, neither waits.

use core::fmt;
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::*};

/// A ring of bytes for one writer and one reader.
pub struct Log<const SIZE: usize> {
    bytes: [AtomicU8; SIZE],
    written: AtomicUsize,
    read: AtomicUsize,
    lost: AtomicU64,
}

impl<const SIZE: usize> Log<SIZE> {
    /// An empty ring.
    pub const fn new() -> Self {
        Log {
            bytes: [const { AtomicU8::new(0) }; SIZE],
            written: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Writes as much of `bytes` as there is room for; the rest is lost and counted.
    pub fn write(&self, bytes: &[u8]) {
        let written = self.written.load(Relaxed);
        let room = SIZE - written.wrapping_sub(self.read.load(Acquire));
        let count = bytes.len().min(room);
        for (index, byte) in bytes[..count].iter().enumerate() {
            self.bytes[written.wrapping_add(index) % SIZE].store(*byte, Relaxed);
        }
        self.written.store(written.wrapping_add(count), Release);
        self.lost.fetch_add((bytes.len() - count) as u64, Relaxed);
    }

    /// Copies the oldest text into `buffer`; how much.
    pub fn read(&self, buffer: &mut [u8]) -> usize {
        let read = self.read.load(Relaxed);
        let count = self.written.load(Acquire).wrapping_sub(read).min(buffer.len());
        for (index, byte) in buffer[..count].iter_mut().enumerate() {
            *byte = self.bytes[read.wrapping_add(index) % SIZE].load(Relaxed);
        }
        self.read.store(read.wrapping_add(count), Release);
        count
    }

    /// Nothing to read?
    pub fn is_empty(&self) -> bool {
        self.written.load(Acquire) == self.read.load(Acquire)
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
            log.write(b"abcde");
            assert_eq!(log.read(&mut buffer[..3]), 3);
            assert_eq!(&buffer[..3], b"abc");
            log.write(b"fghijkl");
            assert_eq!(log.take_lost(), 1);
            assert_eq!(log.read(&mut buffer), 8);
            assert_eq!(&buffer[..8], b"defghijk");
            assert!(log.is_empty());
        }
    }
}
