//! Entry points, and the checkpoints' disk: the component that exports `Blocks`.

use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex};
use cairn_driver_interfaces::Blocks;
use cairn_interfaces::{
    Memory, MemoryStatistics, PageFault, PageStore, Pager, Paging, Portals, Successor,
};
use cairn_pager::handover::Handover;
use cairn_pager::stored::{Backing, Buffer, FRAMES, Stored};
use cairn_pager_persistent::checkpoints::{Checkpoints, Disk, PAGES, blocks};

struct Imported;

/// Where pages are stored.
struct Slots(Checkpoints);

struct Store {
    stored: Stored,
    slots: Slots,
}

struct Server;
static SERVER: Server = Server;
static HANDOVER: Handover = Handover::new(1);
static STORE: Mutex<Store> =
    Mutex::new(Store { stored: Stored::new(imports::PAGING), slots: Slots(Checkpoints::new()) });

cairn::component! {
    name: "pager-persistent",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        blocks: Blocks,
    },
    exports: { pager: Pager = SERVER, store: PageStore = SERVER, successor: Successor = SERVER },
    init: prepare,
}

/// Finds the last checkpoint, if it is one of these sections.
fn prepare() -> Result<(), Error> {
    let mut store = STORE.lock()?;
    let Store { stored, slots } = &mut *store;
    let (mut pages, mut shape) = (0, 0_u64);
    for section in stored.learn()? {
        pages += section;
        shape = shape << 16 ^ shape >> 48 ^ section;
    }
    let (size, writable) = imports::BLOCKS.size()?;
    if pages > PAGES as u64 || blocks(pages) > size || !writable {
        cairn::log::error!(
            "{pages} pages, at most {PAGES}, want {} blocks that can be written; there are {size}, writable: {writable}",
            blocks(pages)
        );
        return Err(Error::TooLarge);
    }
    let found = slots.0.open(shape, &mut Imported);
    match found {
        Ok(number) => cairn::log::info!("checkpoint {number}"),
        Err(Error::NotSupported) => {
            cairn::log::error!("the disk has checkpoints of sections of other sizes");
        }
        Err(Error::Malformed) => {
            cairn::log::error!("the disk has something else, or is damaged; it was not changed");
        }
        Err(_) => {}
    }
    found?;
    let of = (&imports::MEMORY, &imports::STATISTICS);
    let (frames, _) = HANDOVER.memory(of, imports::PAGING, FRAMES as u64)?;
    stored.begin(frames);
    Ok(())
}

impl Disk for Imported {
    fn read(&mut self, first: u64, buffer: &mut [u8]) -> Result<(), Error> {
        imports::BLOCKS.read(first, buffer)
    }

    fn write(&mut self, first: u64, buffer: &[u8]) -> Result<(), Error> {
        imports::BLOCKS.write(first, buffer)
    }

    fn flush(&mut self) -> Result<(), Error> {
        imports::BLOCKS.flush()
    }
}

impl Backing for Slots {
    fn read(&mut self, page: u64, buffer: &mut Buffer) -> Result<(), Error> {
        self.0.read(page as usize, &mut buffer.0, &mut Imported)
    }

    fn write(&mut self, page: u64, buffer: &Buffer) -> Result<(), Error> {
        self.0.write(page as usize, &buffer.0, &mut Imported)
    }
}

impl Pager for Server {
    fn page_fault(
        &self,
        portal: PortalIndex,
        thread: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        HANDOVER.check();
        let mut store = STORE.lock()?;
        let Store { stored, slots } = &mut *store;
        stored.fault(portal, thread.0 as usize, fault, slots)
    }
}

impl PageStore for Server {
    /// A checkpoint.
    fn flush(&self) -> Result<u64, Error> {
        HANDOVER.check();
        let mut store = STORE.lock()?;
        let Store { stored, slots } = &mut *store;
        stored.write_back(slots, |slots| slots.0.commit(&mut Imported))
    }
}

impl Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        let store = STORE.lock()?;
        HANDOVER.export(from, part, &store.stored.memory()?, |writer| {
            store.stored.hand_over(writer)?;
            store.slots.0.hand_over(writer)
        })
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut store = STORE.lock()?;
        let memory = store.stored.memory()?;
        let Store { stored, slots } = &mut *store;
        HANDOVER.import((size, from), part, &memory, |kind, record| {
            match slots.0.take_over(kind, record) {
                Err(Error::VersionMismatch) => stored.take_over(kind, record),
                taken => taken,
            }
        })
    }
}
