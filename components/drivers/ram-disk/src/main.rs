//! A disk in memory: as large as the instance's quota leaves room for, and all zeros when it starts, also when it starts again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment::startup;
use cairn::section::Section;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::{BLOCK_SIZE, Blocks, Memory, MemoryStatistics, blocks_checked};
use core::sync::atomic::{AtomicU64, Ordering};

struct Disk {
    address: AtomicU64,
    /// 0: there is no memory yet. It orders what is before it.
    pages: AtomicU64,
}

static DISK: Disk = Disk { address: AtomicU64::new(0), pages: AtomicU64::new(0) };

cairn::component! {
    name: "ram-disk",
    imports: { memory: Memory, statistics: MemoryStatistics },
    exports: { blocks: Blocks = DISK },
    main: main,
}

/// Takes what the quota has left.
fn main() -> Result<(), Error> {
    let (used, quota) = imports::STATISTICS.usage_of(startup().instance)?;
    let mut pages = quota.saturating_sub(used);
    let address = loop {
        match imports::MEMORY.allocate(pages) {
            // Tables of translations count, too.
            Err(Error::Exhausted) if pages > 1 => pages -= 1,
            result => break result?,
        }
    };
    // Relaxed: `pages`, which is written after it and read before it, orders it.
    DISK.address.store(address, Ordering::Relaxed);
    DISK.pages.store(pages, Ordering::Release);
    Ok(())
}

impl Disk {
    /// Its blocks; `Busy` until it has begun.
    fn memory(&self) -> Result<Section, Error> {
        let pages = self.pages.load(Ordering::Acquire);
        // Relaxed: as above.
        let memory = Section::of_pages(self.address.load(Ordering::Relaxed), pages);
        memory.filter(|_| pages > 0).ok_or(Error::Busy)
    }

    /// Where `bytes` from a block on begin.
    fn offset(memory: &Section, first: u64, bytes: usize) -> Result<usize, Error> {
        blocks_checked(memory.size() as u64 / BLOCK_SIZE, first, bytes)?;
        Ok((first * BLOCK_SIZE) as usize)
    }
}

impl Blocks for Disk {
    fn size(&self) -> Result<(u64, bool), Error> {
        Ok((self.memory()?.size() as u64 / BLOCK_SIZE, true))
    }

    fn read(&self, first: u64, buffer: WriteWindow) -> Result<(), Error> {
        let memory = self.memory()?;
        let from = Disk::offset(&memory, first, buffer.len())?;
        buffer.write_from(0, &memory, from, buffer.len())
    }

    fn write(&self, first: u64, buffer: ReadWindow) -> Result<(), Error> {
        let memory = self.memory()?;
        let to = Disk::offset(&memory, first, buffer.len())?;
        buffer.read_into(0, &memory, to, buffer.len())
    }

    /// It lasts as long as the instance does.
    fn flush(&self) -> Result<(), Error> {
        self.memory().map(|_| ())
    }
}
