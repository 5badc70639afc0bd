//! Provides sections with the pages of another section, its *original*, which its argument names: all clients read one copy of a page,
//! and who writes it gets one of its own. The original's pages can come from another pager.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::sync::Mutex;
use cairn::{CallerThread, Error, PortalIndex, environment};
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_READ, PAGE_WRITE, PageFault, Pager, Paging, Portals, ServedRange,
};
use cairn_pager::{PAGE, pool::Pool};

const RANGES: usize = 32;

struct Copies {
    original: Section,
    memory: Section,
    pool: Pool<'static>,
    ranges: [Option<Range>; RANGES],
}

/// A range that this pager serves.
#[derive(Clone, Copy)]
struct Range {
    served: ServedRange,
    /// The place of its first page in the pool, behind those of the original.
    first: usize,
    /// The client's life whose pages the pool has, and 1.
    life: u64,
}

struct Copier;
static COPIER: Copier = Copier;
static COPIES: Mutex<Option<Copies>> = Mutex::new(None);

cairn::component! {
    name: "pager-copy",
    imports: { memory: Memory, statistics: MemoryStatistics, paging: Paging, portals: Portals },
    exports: { pager: Pager = COPIER },
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
    let mut places = original.size().div_ceil(PAGE);
    let mut ranges = [None; RANGES];
    let served = cairn_pager::ranges_in::<RANGES>(imports::PAGING)?;
    for (place, served) in ranges.iter_mut().zip(served.into_iter().flatten()) {
        *place = Some(Range { served, first: places, life: 0 });
        places += served.pages as usize;
    }
    let memory = cairn_pager::memory(&imports::MEMORY, &imports::STATISTICS, u64::MAX)?;
    let pool = Pool::new(memory.words(memory.size() / 8), places).ok_or(Error::Exhausted)?;
    pool.begin();
    *COPIES.lock()? = Some(Copies { original, memory, pool, ranges });
    Ok(())
}

impl Copies {
    fn range(&self, number: u64) -> Option<usize> {
        let is_it = |range: &Option<Range>| range.is_some_and(|one| one.served.number == number);
        self.ranges.iter().position(is_it)
    }

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

    /// Nobody has the pages of a range any more.
    fn clear(&self, range: &Range) {
        let end = range.first + range.served.pages as usize;
        (range.first..end).for_each(|place| self.pool.release(place));
    }

    fn provide(&self, range: &Range, page: usize, writes: bool) -> Result<u64, Error> {
        let own = range.first + page;
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
        let mut copies = COPIES.lock()?;
        let copies = copies.as_mut().ok_or(Error::NotReady)?;
        let at = copies.range(fault.range).ok_or(Error::NotFound)?;
        let range = copies.ranges[at].ok_or(Error::NotFound)?;
        let page = (fault.offset / PAGE_SIZE) as usize;
        if page >= range.served.pages as usize {
            return Err(Error::NotFound);
        }
        if range.life != fault.life + 1 {
            // A client's new life has none of the pages of the one before.
            copies.clear(&range);
            copies.ranges[at] = Some(Range { life: fault.life + 1, ..range });
        }
        match copies.provide(&range, page, fault.rights == PAGE_WRITE) {
            Err(Error::Exhausted) => {
                let is_dead = |range: &&Range| {
                    imports::PAGING.client(range.served.number).is_ok_and(|client| !client.lives)
                };
                copies.ranges.iter().flatten().filter(is_dead).for_each(|dead| copies.clear(dead));
                copies.provide(&range, page, fault.rights == PAGE_WRITE)
            }
            reply => reply,
        }
    }
}
