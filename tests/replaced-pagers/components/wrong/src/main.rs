//! Takes the place of a pager, and does not hand out what that had.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex};
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_WRITE, PageFault, Pager, Paging, Portals, Successor,
};

/// What it does.
mod manners {
    pub const DIES: u64 = 1;
    pub const REFUSES: u64 = 2;
    pub const NEVER_SERVES: u64 = 3;
    pub const LOSES: u64 = 4;
    pub const DOUBLES: u64 = 5;
    pub const IS_FOREIGN: u64 = 6;
    pub const GIVES_BACK: u64 = 7;
}

struct Wrong;
static WRONG: Wrong = Wrong;

cairn::component! {
    name: "replaced-pagers-wrong",
    imports: { memory: Memory, statistics: MemoryStatistics, paging: Paging, portals: Portals },
    exports: { pager: Pager = WRONG, successor: Successor = WRONG },
    arguments: { manner: u64 },
    init: prepare,
}

fn prepare() -> Result<(), Error> {
    while arguments::manner() == manners::NEVER_SERVES {
        core::hint::spin_loop();
    }
    Ok(())
}

impl Pager for Wrong {
    fn page_fault(&self, _: PortalIndex, _: CallerThread, _: PageFault) -> Result<u64, Error> {
        let (kept, _) = imports::PAGING.kept(0)?;
        match arguments::manner() {
            manners::DOUBLES => Ok(kept | PAGE_WRITE),
            // The same place of another one's region.
            manners::IS_FOREIGN => Ok((kept + (1 << 31)) | PAGE_WRITE),
            manners::LOSES => Err(Error::NotFound),
            _ => Err(Error::NotReady),
        }
    }
}

impl Successor for Wrong {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }

    fn import_state(&self, _: u64, _: u64, _: ReadWindow<'_>) -> Result<(), Error> {
        match arguments::manner() {
            manners::DIES => panic!("told to die"),
            manners::REFUSES => Err(Error::VersionMismatch),
            manners::GIVES_BACK => {
                let (first, pages) = imports::PAGING.kept(0)?;
                // Its clients have some of them.
                match imports::MEMORY.free(first, pages) {
                    Err(Error::Busy) => panic!("they are not to be had"),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
