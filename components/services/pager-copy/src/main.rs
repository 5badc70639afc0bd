//! Provides sections with the pages of another section, its *original*, which its argument names: all clients read one copy of a page,
//! and who writes it gets one of its own. The original's pages can come from another pager.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex, environment};
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_READ, PAGE_WRITE, PageFault, Pager, Paging, Portals, Successor,
};
use cairn_pager::handover::Handover;
use cairn_pager::ranges::{Kept, Ranges, client};
use cairn_pager::{PAGE, pool::Pool};

struct Copies {
    original: Section,
    memory: Section,
    /// The original's pages have the first places.
    pool: Pool<'static>,
}

struct Copier;
static COPIER: Copier = Copier;
static RANGES: Ranges = Ranges::new();
static HANDOVER: Handover = Handover::new(1);
static COPIES: Mutex<Option<Copies>> = Mutex::new(None);

cairn::component! {
    name: "pager-copy",
    imports: { memory: Memory, statistics: MemoryStatistics, paging: Paging, portals: Portals },
    exports: { pager: Pager = COPIER, successor: Successor = COPIER },
    arguments: {
        loaded: u64 = 0,
        loaded_pages: u64 = 16,
    },
    init: prepare,
}

/// Takes what the quota has, and learns what is to be served.
fn prepare() -> Result<(), Error> {
    let name = environment::argument();
    let Some(original) = environment::section(name) else {
        cairn::log::error!(
            "expected the name of a section in `argument`, and that section in `sections`; found `{name}`"
        );
        return Err(Error::NotFound);
    };
    let described = cairn_pager::ranges(imports::PAGING).map(|range| (range.number, range.pages));
    let kept = Kept { clients: arguments::loaded(), pages: arguments::loaded_pages() };
    let places = RANGES.begin(original.size().div_ceil(PAGE), described, kept)?;
    let of = (&imports::MEMORY, &imports::STATISTICS);
    let (memory, is_new) = HANDOVER.memory(of, imports::PAGING, u64::MAX)?;
    let pool = Pool::new(memory.words(memory.size() / 8), places).ok_or(Error::Exhausted)?;
    if is_new {
        pool.begin();
    }
    *COPIES.lock()? = Some(Copies { original, memory, pool });
    Ok(())
}

impl Copies {
    /// The page of the pool for a place, which has what the original has if it is new.
    fn copy(&self, place: usize, page: usize) -> Result<usize, Error> {
        if let Some(found) = self.pool.find(place) {
            return Ok(found);
        }
        let copy = self.pool.page(place)?;
        let from = page * PAGE;
        if let Some(bytes) = self.original.size().checked_sub(from) {
            self.memory.copy_from(copy * PAGE, &self.original, from, bytes.min(PAGE));
        }
        Ok(copy)
    }

    /// A page that has the place `own`.
    fn provide(&self, own: usize, page: usize, writes: bool) -> Result<u64, Error> {
        let (copy, rights) = match self.pool.find(own) {
            None if !writes && page * PAGE < self.original.size() => {
                (self.copy(page, page)?, PAGE_READ)
            }
            None => (self.copy(own, page)?, PAGE_WRITE),
            Some(copy) => (copy, PAGE_WRITE),
        };
        Ok((self.memory.address() + copy * PAGE) as u64 | rights)
    }
}

impl Pager for Copier {
    fn page_fault(
        &self,
        portal: PortalIndex,
        _: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        if portal.0 != 0 {
            return Err(Error::NotAllowed);
        }
        HANDOVER.check();
        let mut copies = COPIES.lock()?;
        let copies = copies.as_mut().ok_or(Error::NotReady)?;
        let client = client(imports::PAGING);
        let place = match RANGES.place(&fault) {
            Some(place) => place,
            None => RANGES.begin_life(&copies.pool, &fault, client)?,
        };
        let page = (fault.offset / PAGE_SIZE) as usize;
        let writes = fault.rights == PAGE_WRITE;
        match copies.provide(place, page, writes) {
            Err(Error::Exhausted) => {
                RANGES.clean(&copies.pool, client);
                copies.provide(place, page, writes)
            }
            reply => reply,
        }
    }
}

fn memory() -> Result<Section, Error> {
    Ok(COPIES.lock()?.as_ref().ok_or(Error::NotReady)?.memory)
}

impl Successor for Copier {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        HANDOVER.export(from, part, &memory()?, |writer| RANGES.write(writer))
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        HANDOVER.import((size, from), part, &memory()?, |kind, record| RANGES.take(kind, record))
    }
}
