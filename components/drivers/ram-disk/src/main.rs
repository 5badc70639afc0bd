//! A disk in memory: as large as the instance's quota leaves room for, and all zeros when it starts, also when it starts again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment::startup;
use cairn::section::Section;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::{BLOCK_SIZE, BlockQueue, Blocks, blocks_checked};
use cairn_interfaces::{Memory, MemoryStatistics};
use cairn_queue::blocks::{self, Kind, Request, Server};
use core::sync::atomic::{AtomicU64, Ordering};

struct Disk {
    address: AtomicU64,
    /// 0: there is no memory yet. It orders what is before it.
    pages: AtomicU64,
    queue: Server,
}

static DISK: Disk =
    Disk { address: AtomicU64::new(0), pages: AtomicU64::new(0), queue: Server::new() };

cairn::component! {
    name: "ram-disk",
    imports: { memory: Memory, statistics: MemoryStatistics },
    exports: { blocks: Blocks = DISK, queue: BlockQueue = DISK },
    arguments: { queue: &str = "" },
    main: main,
}

/// Takes what the quota has left.
fn main() -> Result<(), Error> {
    // What the description lacks is said at once.
    let _ = blocks::section(arguments::queue());
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

impl BlockQueue for Disk {
    fn begin(&self) -> Result<u64, Error> {
        let (section, _) = blocks::section(arguments::queue())?;
        self.queue.begin(&section, cairn::time::now())
    }

    fn submit(&self, beginning: u64) -> Result<u64, Error> {
        let (section, data) = blocks::section(arguments::queue())?;
        let mut session = self.queue.enter(section, data.size(), beginning)?;
        loop {
            while let Some((number, request)) = session.next(0)? {
                session.answer(number, request.and_then(|one| self.serve(&one, &data)))?;
            }
            if session.is_done()? {
                return Ok(session.served());
            }
        }
    }
}

impl Disk {
    fn serve(&self, request: &Request, data: &Section) -> Result<(), Error> {
        let Request { kind, first, offset, bytes } = *request;
        let memory = self.memory()?;
        if kind == Kind::Flush {
            return Ok(());
        }
        let at = Disk::offset(&memory, first, bytes)?;
        match kind {
            Kind::Write => memory.copy_from(at, data, offset, bytes),
            _ => data.copy_from(offset, &memory, at, bytes),
        }
        Ok(())
    }
}
