//! Provides sections with pages that are zero when they are first used, out of its own quota of memory.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::cached::Cached;
use cairn::section::Section;
use cairn::sync::Mutex;
use cairn::{CallerThread, Error, PortalIndex};
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_WRITE, PageFault, Pager, Paging, Portals, ServedRange,
};
use cairn_pager::pool::Pool;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Ranges of a system that have a pager.
const RANGES_MAXIMUM: usize = 128;

/// A range that this pager serves. It changes while `CLEANING` is held only.
struct Range {
    /// The place of its first page in the pool.
    first: AtomicU32,
    pages: AtomicU32,
    /// The client's life whose pages the pool has, and 1.
    life: AtomicU64,
}

struct Zero;
static ZERO: Zero = Zero;
// Relaxed: what a range has was stored before its pager serves; a life, which orders what was cleared for it, is stored with Release.
/// By their numbers.
static RANGES: [Range; RANGES_MAXIMUM] = [const {
    Range { first: AtomicU32::new(0), pages: AtomicU32::new(0), life: AtomicU64::new(0) }
}; RANGES_MAXIMUM];
static POOL: Cached<(Pool<'static>, u64)> = Cached::new();
/// Held by who takes pages from dead clients.
static CLEANING: Mutex<()> = Mutex::new(());
/// Pages of the memory, the places of all ranges, and the first address.
static MADE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

cairn::component! {
    name: "pager-zero",
    imports: { memory: Memory, statistics: MemoryStatistics, paging: Paging, portals: Portals },
    exports: { pager: Pager = ZERO },
    init: prepare,
}

/// Takes what the quota has, and learns what is to be served.
fn prepare() -> Result<(), Error> {
    let mut places = 0;
    for range in cairn_pager::ranges(imports::PAGING) {
        let Some(place) = RANGES.get(range.number as usize) else {
            cairn::log::error!("range {} has too high a number", range.number);
            return Err(Error::NotSupported);
        };
        place.first.store(places, Relaxed);
        place.pages.store(range.pages as u32, Relaxed);
        places += range.pages as u32;
    }
    let memory = cairn_pager::memory(&imports::MEMORY, &imports::STATISTICS, u64::MAX)?;
    let pages = memory.size() as u64 / PAGE_SIZE;
    for (place, word) in MADE.iter().zip([pages, places.into(), memory.address() as u64]) {
        place.store(word, Relaxed);
    }
    with(|pool, _| pool.begin()).ok_or(Error::Exhausted)
}

/// Runs `body` with the pool, and the address of its first page.
#[inline(always)]
fn with<T>(body: impl FnOnce(&Pool, u64) -> T) -> Option<T> {
    let make = || {
        let [pages, places, address] = MADE.each_ref().map(|word| word.load(Relaxed));
        let section = Section::of_pages(address, pages)?;
        Some((Pool::new(section.words(section.size() / 8), places as usize)?, address))
    };
    POOL.with(make, |(pool, address)| body(pool, *address))
}

/// Nobody has the pages of a range any more.
fn clear(range: &Range) {
    let first = range.first.load(Relaxed);
    let places = first..first + range.pages.load(Relaxed);
    with(|pool, _| places.for_each(|place| pool.release(place as usize)));
}

/// A client's new life has none of the pages of the one before.
#[cold]
fn begin_life(range: &Range, life: u64) -> Result<(), Error> {
    let _cleaning = CLEANING.lock()?;
    if range.life.load(Relaxed) < life {
        clear(range);
        range.life.store(life, Release);
    }
    Ok(())
}

/// No page is free: those of clients that do not live again yet are.
#[cold]
fn clean(range: u64) -> Result<(), Error> {
    let _cleaning = CLEANING.lock()?;
    let is_dead = |range: &ServedRange| {
        imports::PAGING.client(range.number).is_ok_and(|client| !client.lives)
    };
    let dead = cairn_pager::ranges(imports::PAGING).filter(is_dead);
    dead.filter_map(|range| RANGES.get(range.number as usize)).for_each(clear);
    if with(|pool, _| pool.free()) == Some(0) {
        let client = imports::PAGING.client(range)?.instance;
        cairn::log::warn!(target: "refused", "no page is left for instance {}: raise `memory`", client.0);
        return Err(Error::Exhausted);
    }
    Ok(())
}

impl Pager for Zero {
    fn page_fault(
        &self,
        portal: PortalIndex,
        _: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        let number = fault.range as usize;
        let range = RANGES.get(number).filter(|_| portal.0 == 0).ok_or(Error::NotAllowed)?;
        let life = fault.life + 1;
        if range.life.load(Acquire) != life {
            begin_life(range, life)?;
        }
        let page = (fault.offset / PAGE_SIZE) as u32;
        if page >= range.pages.load(Relaxed) {
            return Err(Error::NotFound);
        }
        let place = (range.first.load(Relaxed) + page) as usize;
        let provide = || {
            with(|pool, address| Ok(address + pool.page(place)? as u64 * PAGE_SIZE | PAGE_WRITE))
                .unwrap_or(Err(Error::Exhausted))
        };
        match provide() {
            Err(Error::Exhausted) => {
                clean(fault.range)?;
                provide()
            }
            reply => reply,
        }
    }
}
