//! Takes the place of a pager with transactions, and makes each of them something else.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, CallerThread, Error, PortalIndex};
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_WRITE, PageFault, PageStore, Pager, Paging, Portals, Successor,
    Transactions,
};

struct Liar;
static LIAR: Liar = Liar;

cairn::component! {
    name: "replaced-pagers-liar",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        store: Option<PageStore>,
    },
    exports: { pager: Pager = LIAR, transactions: Transactions = LIAR, successor: Successor = LIAR },
    arguments: {
        // In its pages: from the first that is left, or from far behind, in another one's region.
        skips: u64 = 0,
        // It takes no state.
        refuses: u64 = 0,
    },
}

impl Pager for Liar {
    fn page_fault(&self, _: PortalIndex, _: CallerThread, _: PageFault) -> Result<u64, Error> {
        let (kept, _) = imports::PAGING.kept(0)?;
        Ok((kept + arguments::skips()) | PAGE_WRITE)
    }
}

impl Transactions for Liar {
    fn begin(&self, _: Caller, _: CallerThread, _: u64, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn commit(&self, _: Caller, _: CallerThread) -> Result<u64, Error> {
        Ok(u64::MAX)
    }

    fn abort(&self, _: Caller, _: CallerThread) -> Result<u64, Error> {
        Ok(u64::MAX)
    }
}

impl Successor for Liar {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, _: u64, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }

    fn import_state(&self, _: u64, _: u64, _: ReadWindow<'_>) -> Result<(), Error> {
        if arguments::refuses() != 0 { Err(Error::VersionMismatch) } else { Ok(()) }
    }
}
