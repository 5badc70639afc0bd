//! Provides sections with pages that are zero when they are first used, out of its own quota of memory.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::cached::Cached;
use cairn::section::Section;
use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex};
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_WRITE, PageFault, Pager, Paging, Portals, Successor,
};
use cairn_pager::handover::Handover;
use cairn_pager::pool::Pool;
use cairn_pager::ranges::{Kept, Ranges, client};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Zero;
static ZERO: Zero = Zero;
static RANGES: Ranges = Ranges::new();
static POOL: Cached<(Pool<'static>, u64)> = Cached::new();
static HANDOVER: Handover = Handover::new(1);
/// Held by who takes pages from dead clients, or begins a life.
static CLEANING: Mutex<()> = Mutex::new(());
// Relaxed: stored before this serves.
/// Pages of the memory, the places of all ranges, and the first address.
static MADE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

cairn::component! {
    name: "pager-zero",
    imports: { memory: Memory, statistics: MemoryStatistics, paging: Paging, portals: Portals },
    exports: { pager: Pager = ZERO, successor: Successor = ZERO },
    arguments: {
        loaded: u64 = 0,
        loaded_pages: u64 = 16,
    },
    init: prepare,
}

/// Takes what the quota has, and learns what is to be served.
fn prepare() -> Result<(), Error> {
    let described = cairn_pager::ranges(imports::PAGING).map(|range| (range.number, range.pages));
    let kept = Kept { clients: arguments::loaded(), pages: arguments::loaded_pages() };
    let places = RANGES.begin(0, described, kept)? as u64;
    let of = (&imports::MEMORY, &imports::STATISTICS);
    let (memory, is_new) = HANDOVER.memory(of, imports::PAGING, u64::MAX)?;
    let pages = memory.size() as u64 / PAGE_SIZE;
    for (place, word) in MADE.iter().zip([pages, places, memory.address() as u64]) {
        place.store(word, Relaxed);
    }
    let begun = with(|pool, _| {
        if is_new {
            pool.begin()
        }
    });
    begun.ok_or(Error::Exhausted)
}

/// All pages; what they are, the first of them say.
fn pages() -> Result<Section, Error> {
    let [pages, _, address] = MADE.each_ref().map(|word| word.load(Relaxed));
    Section::of_pages(address, pages).ok_or(Error::NotReady)
}

/// Runs `body` with the pool, and the address of its first page.
#[inline(always)]
fn with<T>(body: impl FnOnce(&Pool, u64) -> T) -> Option<T> {
    let make = || {
        let [_, places, address] = MADE.each_ref().map(|word| word.load(Relaxed));
        let section = pages().ok()?;
        Some((Pool::new(section.words(section.size() / 8), places as usize)?, address))
    };
    POOL.with(make, |(pool, address)| body(pool, *address))
}

/// The place of a page that is the first of its client's life.
#[cold]
fn begin_life(fault: &PageFault) -> Result<usize, Error> {
    HANDOVER.check();
    let _cleaning = CLEANING.lock()?;
    with(|pool, _| RANGES.begin_life(pool, fault, client(imports::PAGING)))
        .unwrap_or(Err(Error::Exhausted))
}

/// No page is free: those of clients that do not live again yet are.
#[cold]
fn clean(range: u64) -> Result<(), Error> {
    let _cleaning = CLEANING.lock()?;
    with(|pool, _| RANGES.clean(pool, client(imports::PAGING)));
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
        if portal.0 != 0 {
            return Err(Error::NotAllowed);
        }
        let place = match RANGES.place(&fault) {
            Some(place) => place,
            None => begin_life(&fault)?,
        };
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

impl Successor for Zero {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        HANDOVER.export(from, part, &pages()?, |writer| RANGES.write(writer))
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        HANDOVER.import((size, from), part, &pages()?, |kind, record| RANGES.take(kind, record))
    }
}
