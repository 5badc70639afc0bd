//! Descriptors as a device finds them, and what holds of all that a confined driver can make it find: for tests, on the host and
//! in a driver.

use super::{NEXT, WRITE, dma_margin};

/// A descriptor of a table, or what a device makes of two states of one that it reads while it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where the buffer begins; 0 where none was written yet.
    pub address: u64,
    /// Its bytes.
    pub length: u64,
    /// The device writes it; there is a next one.
    pub flags: u64,
    /// The number of that.
    pub next: u64,
}

impl Found {
    /// As its 16 bytes say.
    pub const fn of([address, rest]: [u64; 2]) -> Found {
        Found { address, length: rest & 0xffff_ffff, flags: rest >> 32 & 0xffff, next: rest >> 48 }
    }

    /// Whether the one with this number, of `count`, names nothing but the driver's memory for DMA, which a device finds at
    /// `start`, or the margin behind that.
    pub const fn is_confined(&self, number: u64, count: u64, start: u64, size: u64) -> bool {
        let begins = self.address == 0 || self.address >= start && self.address <= start + size;
        begins
            && self.address + self.length <= start + size + dma_margin(size)
            && self.flags <= NEXT | WRITE
            && self.next == (number + 1) % count
    }
}
