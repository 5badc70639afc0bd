//! Entry points: from a fault to a page of the disk. The sections lie on it one behind the other.

use cairn::section::Section;
use cairn::sync::Mutex;
use cairn::{CallerThread, Error, PortalIndex, environment};
use cairn_abi::address::PAGE_SIZE;
use cairn_driver_interfaces::{BLOCK_SIZE, Blocks};
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_READ, PAGE_WRITE, PageFault, PageStore, Pager, Paging, Portals,
    ServedRange,
};
use cairn_pager_blocks::cache::{Cache, Page};

/// Most pages in memory, and ranges.
const FRAMES: usize = 256;
const RANGES: usize = 32;

/// What a call of the disk reads or writes.
#[repr(align(4096))]
struct Buffer([u8; PAGE_SIZE as usize]);

struct Store {
    cache: Cache<FRAMES>,
    memory: Option<Section>,
    ranges: [Option<ServedRange>; RANGES],
    buffer: Buffer,
}

struct OnDisk;
static ON_DISK: OnDisk = OnDisk;
static STORE: Mutex<Store> = Mutex::new(Store {
    cache: Cache::new(),
    memory: None,
    ranges: [None; RANGES],
    buffer: Buffer([0; PAGE_SIZE as usize]),
});

cairn::component! {
    name: "pager-blocks",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        blocks: Blocks,
    },
    exports: { pager: Pager = ON_DISK, store: PageStore = ON_DISK },
    init: prepare,
}

/// Takes what the quota has, and learns what is to be served.
fn prepare() -> Result<(), Error> {
    let mut store = STORE.lock()?;
    let mut served = (0..).map_while(|at| imports::PAGING.range(at).ok());
    store.ranges.iter_mut().zip(&mut served).for_each(|(place, range)| *place = Some(range));
    let needed = store.sections().map(|range| range.pages).sum::<u64>() * PAGE_SIZE;
    let (blocks, _) = imports::BLOCKS.size()?;
    if served.next().is_some() || needed > blocks * BLOCK_SIZE {
        cairn::log::error!(
            "more than {RANGES} ranges, or {needed} bytes on a disk of {blocks} blocks"
        );
        return Err(Error::TooLarge);
    }
    let (used, quota) = imports::STATISTICS.usage_of(environment::startup().instance)?;
    let pages = quota.saturating_sub(used).min(FRAMES as u64);
    store.memory = Section::of_pages(imports::MEMORY.allocate(pages)?, pages);
    store.cache.begin(pages as usize);
    Ok(())
}

impl Store {
    /// A range of each section.
    fn sections(&self) -> impl Iterator<Item = &ServedRange> {
        let ranges = self.ranges.iter().flatten();
        ranges.enumerate().filter_map(|(at, range)| {
            let mut before = self.ranges.iter().flatten().take(at);
            (!before.any(|other| other.section == range.section)).then_some(range)
        })
    }

    /// The block at which a page begins.
    fn block(&self, page: Page) -> u64 {
        let before = self.sections().take_while(|range| range.section != page.section);
        let first: u64 = before.map(|range| range.pages).sum();
        (first + page.number) * (PAGE_SIZE / BLOCK_SIZE)
    }

    /// A frame's memory.
    fn frame(&self, frame: usize) -> Result<Section, Error> {
        let memory = self.memory.ok_or(Error::NotReady)?;
        Ok(memory.part(frame * PAGE_SIZE as usize, PAGE_SIZE as usize))
    }

    /// Nobody has a page in its page table any more.
    fn unmap(&self, page: Page) -> Result<(), Error> {
        let of_section = |range: &&ServedRange| range.section == page.section;
        self.ranges
            .iter()
            .flatten()
            .filter(of_section)
            .try_for_each(|range| imports::PAGING.unmap(range.number, page.number, 1))
    }

    fn read(&mut self, frame: usize, page: Page) -> Result<(), Error> {
        imports::BLOCKS.read(self.block(page), &mut self.buffer.0)?;
        let memory = self.frame(frame)?;
        let (words, _) = self.buffer.0.as_chunks::<8>();
        for (at, word) in words.iter().enumerate() {
            memory.store(at * 8, u64::from_le_bytes(*word));
        }
        Ok(())
    }

    /// What a frame has is on the disk, and nobody changes it meanwhile.
    fn write(&mut self, frame: usize, page: Page) -> Result<(), Error> {
        let memory = self.frame(frame)?;
        let (words, _) = self.buffer.0.as_chunks_mut::<8>();
        for (at, word) in words.iter_mut().enumerate() {
            *word = memory.load(at * 8).to_le_bytes();
        }
        imports::BLOCKS.write(self.block(page), &self.buffer.0)
    }

    /// The frame with a page, which is read if it is not there.
    fn frame_of(&mut self, page: Page) -> Result<usize, Error> {
        if let Some(frame) = self.cache.find(page) {
            return Ok(frame);
        }
        let frame = self.cache.victim()?;
        if let Some((other, is_changed)) = self.cache.content(frame) {
            self.unmap(other)?;
            if is_changed {
                self.write(frame, other)?;
            }
        }
        // If it cannot be read, the frame is empty.
        self.cache.take(frame, None);
        self.read(frame, page)?;
        self.cache.take(frame, Some(page));
        Ok(frame)
    }
}

impl Pager for OnDisk {
    fn page_fault(
        &self,
        portal: PortalIndex,
        thread: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        let mut store = STORE.lock()?;
        let mut ranges = store.ranges.iter().flatten();
        let range = ranges.find(|range| range.number == fault.range).filter(|_| portal.0 == 0);
        let (section, number) = (range.ok_or(Error::NotAllowed)?.section, fault.offset / PAGE_SIZE);
        let thread = thread.0 as usize;
        store.cache.unpin(thread);
        let frame = store.frame_of(Page { section, number })?;
        let rights = match store.cache.answer(thread, frame, fault.rights == PAGE_WRITE) {
            true => PAGE_WRITE,
            false => PAGE_READ,
        };
        Ok(store.frame(frame)?.address() as u64 | rights)
    }
}

impl PageStore for OnDisk {
    fn flush(&self) -> Result<u64, Error> {
        let mut store = STORE.lock()?;
        let mut count = 0;
        for frame in store.cache.changed() {
            let Some((page, _)) = store.cache.content(frame) else { continue };
            store.unmap(page)?;
            store.write(frame, page)?;
            store.cache.written(frame);
            count += 1;
        }
        imports::BLOCKS.flush()?;
        Ok(count)
    }
}
