//! A pager that answers whatever it is told to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{CallerThread, Error, PortalIndex};
use cairn_interfaces::{Clock, Memory, PAGE_WRITE, PageFault, Pager, Paging, Portals};
use cairn_test_hostile_pager_contract::Deeds;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PAGE: u64 = 4096;
const PAGES: u64 = 8;

const BEHAVE: u64 = 0;
const ANSWER: u64 = 1;
const DIE: u64 = 2;
const COMPUTE: u64 = 3;
const SLEEP: u64 = 4;

struct Villain;
static VILLAIN: Villain = Villain;
static DEED: AtomicU64 = AtomicU64::new(BEHAVE);
static STATUS: AtomicU64 = AtomicU64::new(0);
static VALUE: AtomicU64 = AtomicU64::new(0);
static ADDRESS: AtomicU64 = AtomicU64::new(0);
static SECTION: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);
static RIGHTS: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "hostile-pager",
    imports: { memory: Memory, paging: Paging, clock: Clock, portals: Portals },
    exports: { pager: Pager = VILLAIN, deeds: Deeds = VILLAIN },
    init: prepare,
}

fn prepare() -> Result<(), Error> {
    ADDRESS.store(imports::MEMORY.allocate(PAGES)?, Relaxed);
    SECTION.store(imports::MEMORY.make_section(1)?, Relaxed);
    Ok(())
}

fn page(number: u64) -> u64 {
    ADDRESS.load(Relaxed) + number * PAGE
}

fn set(deed: u64, status: u64, value: u64) -> Result<(), Error> {
    STATUS.store(status, Relaxed);
    VALUE.store(value, Relaxed);
    DEED.store(deed, Relaxed);
    Ok(())
}

fn status(result: Result<(), Error>) -> u64 {
    result.map_or_else(|error| error.status() as u64, |()| 0)
}

impl Pager for Villain {
    fn page_fault(
        &self,
        portal: PortalIndex,
        _: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        if portal.0 != 0 {
            return Err(Error::NotAllowed);
        }
        FAULTS.fetch_add(1, Relaxed);
        RIGHTS.store(fault.rights, Relaxed);
        match DEED.load(Relaxed) {
            BEHAVE => Ok(page(fault.offset / PAGE % PAGES) | PAGE_WRITE),
            ANSWER if STATUS.load(Relaxed) == 0 => Ok(VALUE.load(Relaxed)),
            ANSWER => Err(Error::NotFound),
            DIE => panic!("as it was told"),
            COMPUTE => loop {
                core::hint::spin_loop();
            },
            SLEEP => loop {
                let _ = imports::CLOCK.sleep(10_000_000);
            },
            _ => Err(Error::NotSupported),
        }
    }
}

impl Deeds for Villain {
    fn behave(&self) -> Result<(), Error> {
        set(BEHAVE, 0, 0)
    }

    fn answer(&self, status: u64, value: u64) -> Result<(), Error> {
        set(ANSWER, status, value)
    }

    fn answer_page(&self, number: u64, rights: u64) -> Result<(), Error> {
        set(ANSWER, 0, page(number) | rights)
    }

    fn die(&self) -> Result<(), Error> {
        set(DIE, 0, 0)
    }

    fn keep(&self, sleeps: bool) -> Result<(), Error> {
        set(if sleeps { SLEEP } else { COMPUTE }, 0, 0)
    }

    fn give_back(&self) -> Result<u64, Error> {
        Ok(status(imports::MEMORY.free(ADDRESS.load(Relaxed), PAGES)))
    }

    fn places(&self, number: u64) -> Result<(u64, u64, u64), Error> {
        let code = prepare as fn() -> Result<(), Error> as usize as u64;
        Ok((page(number), code & !(PAGE - 1), SECTION.load(Relaxed)))
    }

    fn unmap(&self, range: u64, first: u64, pages: u64) -> Result<u64, Error> {
        Ok(status(imports::PAGING.unmap(range, first, pages)))
    }

    fn seen(&self) -> Result<(u64, u64), Error> {
        Ok((FAULTS.load(Relaxed), RIGHTS.load(Relaxed)))
    }
}
