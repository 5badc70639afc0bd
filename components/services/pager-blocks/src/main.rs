//! Provides sections with pages that lie on a disk, one section behind the other: as many at a time as its quota of memory holds.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex};
use cairn_abi::address::PAGE_SIZE;
use cairn_driver_interfaces::{BLOCK_SIZE, Blocks};
use cairn_interfaces::{
    Memory, MemoryStatistics, PageFault, PageStore, Pager, Paging, Portals, Successor,
};
use cairn_pager::handover::Handover;
use cairn_pager::stored::{Backing, Buffer, FRAMES, Stored};

/// The disk.
struct Disk;

struct OnDisk;
static ON_DISK: OnDisk = OnDisk;
static HANDOVER: Handover = Handover::new(1);
static STORED: Mutex<Stored> = Mutex::new(Stored::new(imports::PAGING));

cairn::component! {
    name: "pager-blocks",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        blocks: Blocks,
    },
    exports: { pager: Pager = ON_DISK, store: PageStore = ON_DISK, successor: Successor = ON_DISK },
    init: prepare,
}

fn prepare() -> Result<(), Error> {
    let mut stored = STORED.lock()?;
    let needed = stored.learn()?.sum::<u64>() * PAGE_SIZE;
    let (blocks, _) = imports::BLOCKS.size()?;
    if needed > blocks * BLOCK_SIZE {
        cairn::log::error!("{needed} bytes on a disk of {blocks} blocks");
        return Err(Error::TooLarge);
    }
    let of = (&imports::MEMORY, &imports::STATISTICS);
    let (frames, _) = HANDOVER.memory(of, imports::PAGING, FRAMES as u64)?;
    stored.begin(frames);
    Ok(())
}

impl Backing for Disk {
    fn read(&mut self, page: u64, buffer: &mut Buffer) -> Result<(), Error> {
        imports::BLOCKS.read(page * (PAGE_SIZE / BLOCK_SIZE), &mut buffer.0)
    }

    fn write(&mut self, page: u64, buffer: &Buffer) -> Result<(), Error> {
        imports::BLOCKS.write(page * (PAGE_SIZE / BLOCK_SIZE), &buffer.0)
    }
}

impl Pager for OnDisk {
    fn page_fault(
        &self,
        portal: PortalIndex,
        thread: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        HANDOVER.check();
        STORED.lock()?.fault(portal, thread.0 as usize, fault, &mut Disk)
    }
}

impl PageStore for OnDisk {
    fn flush(&self) -> Result<u64, Error> {
        HANDOVER.check();
        STORED.lock()?.write_back(&mut Disk, |_| imports::BLOCKS.flush())
    }
}

impl Successor for OnDisk {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        let stored = STORED.lock()?;
        HANDOVER.export(from, part, &stored.memory()?, |writer| stored.hand_over(writer))
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut stored = STORED.lock()?;
        let memory = stored.memory()?;
        HANDOVER.import((size, from), part, &memory, |kind, record| stored.take_over(kind, record))
    }
}
