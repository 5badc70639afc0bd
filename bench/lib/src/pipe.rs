//! A pipe of bytes between two domains: a section that both map, and two semaphores.

use cairn::Error;
use cairn::section::Section;
use cairn_interfaces::SemaphoreProxy;

/// Bytes that a pipe holds: the first value of its semaphore `spaces`.
pub const CAPACITY: u64 = 256;
/// Bytes of the section for a pipe: how many bytes were written and read, then the bytes.
pub const SIZE: usize = 4096;
const WRITTEN: usize = 0;
const READ: usize = 8;
const BYTES: usize = 16;

/// A pipe, for one writer and one reader.
#[derive(Clone, Copy)]
pub struct Pipe {
    section: Section,
    base: usize,
    items: SemaphoreProxy,
    spaces: SemaphoreProxy,
}

impl Pipe {
    /// The pipe at number `number` of the section, whose semaphores count bytes to read and to write.
    pub fn new(
        section: Section,
        number: usize,
        items: SemaphoreProxy,
        spaces: SemaphoreProxy,
    ) -> Pipe {
        Pipe { section, base: number * SIZE, items, spaces }
    }

    /// Writes a byte; waits for space.
    #[inline(always)]
    pub fn write(&self, byte: u8) -> Result<(), Error> {
        self.spaces.p()?;
        let at = self.advance(WRITTEN);
        self.section.set_byte(at, byte);
        self.items.v()
    }

    /// Reads a byte; waits for one.
    #[inline(always)]
    pub fn read(&self) -> Result<u8, Error> {
        self.items.p()?;
        let at = self.advance(READ);
        let byte = self.section.byte(at);
        self.spaces.v()?;
        Ok(byte)
    }

    /// The place of the next byte.
    fn advance(&self, counter: usize) -> usize {
        let count = self.section.load(self.base + counter);
        self.section.store(self.base + counter, count.wrapping_add(1));
        self.base + BYTES + (count % CAPACITY) as usize
    }
}
