//! Takes the place of a node of distributed shared memory, hands out one page in the place of all, and may tell its home what is not so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex};
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_WRITE, PageFault, Pager, Paging, Portals, SharedPages,
    Successor, Threads,
};

#[repr(align(4096))]
struct Content([u8; 4096]);

struct Babbler;
static BABBLER: Babbler = Babbler;
static CONTENT: Content = Content([0xee; 4096]);

cairn::component! {
    name: "replaced-pagers-babbler",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        threads: Threads,
        home: SharedPages,
    },
    exports: { pager: Pager = BABBLER, successor: Successor = BABBLER },
    arguments: { babbles: u64 = 0 },
}

fn babble() {
    let home = imports::HOME;
    for membership in 0..6 {
        let _ = home.fetch(membership, u64::MAX, true, &mut [0; 16]);
        for (page, grant) in [(0, 1), (1, 2), (7, 3), (600, 1), (u64::MAX, u64::MAX)] {
            let _ = home.give_back(membership, page, grant, grant != 1, &CONTENT.0);
            let _ = home.give_back(membership, page, grant, false, &CONTENT.0[..8]);
        }
    }
}

impl Pager for Babbler {
    fn page_fault(&self, _: PortalIndex, _: CallerThread, _: PageFault) -> Result<u64, Error> {
        let (kept, _) = imports::PAGING.kept(0)?;
        Ok(kept | PAGE_WRITE)
    }
}

impl Successor for Babbler {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }

    fn import_state(&self, _: u64, _: u64, _: ReadWindow<'_>) -> Result<(), Error> {
        if arguments::babbles() != 0 {
            babble();
        }
        Ok(())
    }
}
