//! Physical memory: pages that a test added; everything else is absent.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

/// Bytes in a page.
pub const PAGE_SIZE: u64 = 4096;

/// An access to a physical address at which there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent(
    /// The first address that is not there.
    pub u64,
);

impl fmt::Display for Absent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no memory at physical address {:#x}: add it with Memory::add", self.0)
    }
}

impl std::error::Error for Absent {}

/// Physical memory. What the test does to it here is not recorded in the journal.
#[derive(Clone, Default)]
pub struct Memory {
    pages: HashMap<u64, Box<[u8; PAGE_SIZE as usize]>>,
}

impl Memory {
    /// Memory with nothing in it.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds zeroed memory in all pages that `address .. address + size` touches. Pages that are
    /// there already keep their contents.
    pub fn add(&mut self, address: u64, size: u64) {
        for page in address / PAGE_SIZE..(address + size).div_ceil(PAGE_SIZE) {
            self.pages.entry(page).or_insert_with(|| Box::new([0; PAGE_SIZE as usize]));
        }
    }

    /// Takes all pages away that `address .. address + size` touches.
    pub fn remove(&mut self, address: u64, size: u64) {
        for page in address / PAGE_SIZE..(address + size).div_ceil(PAGE_SIZE) {
            self.pages.remove(&page);
        }
    }

    /// Whether there is memory at `address`.
    pub fn contains(&self, address: u64) -> bool {
        self.pages.contains_key(&(address / PAGE_SIZE))
    }

    /// Fills `bytes` from `address` on.
    pub fn read_into(&self, address: u64, bytes: &mut [u8]) -> Result<(), Absent> {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (page, range) = fragment(address, rest.len());
            let (now, later) = rest.split_at_mut(range.len());
            let source = self.pages.get(&page).ok_or(Absent(address))?;
            address = address.wrapping_add(range.len() as u64);
            now.copy_from_slice(&source[range]);
            rest = later;
        }
        Ok(())
    }

    /// `size` bytes from `address` on.
    pub fn read(&self, address: u64, size: usize) -> Result<Vec<u8>, Absent> {
        let mut bytes = vec![0; size];
        self.read_into(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes `bytes` from `address` on; nothing, if a page of them is absent.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Absent> {
        let mut at = address;
        let mut rest = bytes.len();
        while rest > 0 {
            let (page, range) = fragment(at, rest);
            if !self.pages.contains_key(&page) {
                return Err(Absent(at));
            }
            at = at.wrapping_add(range.len() as u64);
            rest -= range.len();
        }
        let mut at = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (page, range) = fragment(at, rest.len());
            let (now, later) = rest.split_at(range.len());
            let target = self.pages.get_mut(&page).ok_or(Absent(at))?;
            at = at.wrapping_add(range.len() as u64);
            target[range].copy_from_slice(now);
            rest = later;
        }
        Ok(())
    }

    /// The 64-bit word at `address`.
    pub fn read_u64(&self, address: u64) -> Result<u64, Absent> {
        self.read_word(address, 8)
    }

    /// Writes the 64-bit word at `address`.
    pub fn write_u64(&mut self, address: u64, value: u64) -> Result<(), Absent> {
        self.write(address, &value.to_le_bytes())
    }

    /// The little-endian number of `size` (at most 8) bytes at `address`.
    pub(crate) fn read_word(&self, address: u64, size: usize) -> Result<u64, Absent> {
        let mut bytes = [0; 8];
        self.read_into(address, &mut bytes[..size])?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// The page of `address`, and the part in it of an access of `length` bytes.
fn fragment(address: u64, length: usize) -> (u64, Range<usize>) {
    let offset = (address % PAGE_SIZE) as usize;
    (address / PAGE_SIZE, offset..(offset + length).min(PAGE_SIZE as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosses_pages() {
        let mut memory = Memory::new();
        memory.add(0x1000, 0x1001);
        memory.write(0x1ffe, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.read(0x1ffd, 6).unwrap(), [0, 1, 2, 3, 4, 0]);
        assert_eq!(memory.read(0x2ffe, 4), Err(Absent(0x3000)));
    }

    #[test]
    fn a_write_that_ends_in_absent_memory_writes_nothing() {
        let mut memory = Memory::new();
        memory.add(0x1000, 1);
        assert_eq!(memory.write(0x1ffe, &[1, 2, 3]), Err(Absent(0x2000)));
        assert_eq!(memory.read(0x1ffe, 2).unwrap(), [0, 0]);
    }

    #[test]
    fn adding_again_keeps_and_removing_forgets() {
        let mut memory = Memory::new();
        memory.add(0x1000, 0x1000);
        memory.write_u64(0x1008, 7).unwrap();
        memory.add(0x1000, 0x2000);
        assert_eq!(memory.read_u64(0x1008), Ok(7));
        memory.remove(0x1000, 1);
        assert!(!memory.contains(0x1008) && memory.contains(0x2000));
    }
}
