//! Pages that are provided when they are missed.

use cairn::{Caller, CallerThread, Error, InstanceId, PortalIndex};

/// What provides ranges of addresses with pages when they are missed: sections of the description with this export as `pager`. It is
/// called by the instruction that missed a page, on its thread, by a portal that is made for the range, and by nothing else.
#[cairn::interface]
pub trait Pager {
    /// A page was missed. The value is the address of a page of one's own that can be written, and in the lowest bits what the
    /// client may do there: [`PAGE_READ`] or [`PAGE_WRITE`]. It is mapped for the client, in place of what was there, and the
    /// instruction is executed again. After an error, or the address of anything else, it is a fault of the client. `portal` is 0:
    /// portals of tables have other indexes, and are to be answered `NotAllowed`.
    /// A thread misses one page at a time: what it was answered is mapped when it comes again.
    fn page_fault(
        &self,
        portal: PortalIndex,
        thread: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error>;
}

/// The client may read the page.
pub const PAGE_READ: u64 = 1;
/// It may read and write it, if the range allows it.
pub const PAGE_WRITE: u64 = 3;

/// A page that was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct PageFault {
    /// Of which range: the number by which the memory manager knows it.
    pub range: u64,
    /// Where in the range, in bytes.
    pub offset: u64,
    /// What the client lacks: [`PAGE_READ`], [`PAGE_WRITE`], or 0, to execute what is there, which nobody may.
    pub rights: u64,
    /// How often the client was started before: in another life it has none of its pages.
    pub life: u64,
}

/// What a pager asks for.
#[cairn::interface]
pub trait Paging {
    /// The range that the caller serves as the `at`th, from 0; `NotFound` behind the last one.
    fn range(&self, caller: Caller, at: u64) -> Result<ServedRange, Error>;
    /// Whose a range is that the caller serves.
    fn client(&self, caller: Caller, range: u64) -> Result<RangeClient, Error>;
    /// Whether the client has a page of a range that the caller serves. If it had none when its thread was answered, that answer is
    /// mapped then.
    fn has(&self, caller: Caller, range: u64, page: u64) -> Result<bool, Error>;
    /// Takes pages of a range that the caller serves from the client: what it does there next is a fault again.
    fn unmap(&self, caller: Caller, range: u64, first: u64, pages: u64) -> Result<(), Error>;
    /// Pages in a row that the caller has allocated, the first from an address on: their address, and how many. What a life finds that has
    /// allocated nothing yet the content before it has left. `NotFound`: there are none.
    fn kept(&self, caller: Caller, from: u64) -> Result<(u64, u64), Error>;
}

/// A range that a pager serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct ServedRange {
    /// Its number, the same as in [`PageFault`].
    pub number: u64,
    /// Its pages.
    pub pages: u64,
    /// The section, by its place in the description: several clients can map it, each in a range of its own. Or
    /// [`NO_SECTION`](cairn::abi::record::NO_SECTION): the range is one client's that is loaded, who can go for good; then another can have its number.
    pub section: u64,
}

/// Whose a range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct RangeClient {
    /// The instance.
    pub instance: InstanceId,
    /// It lives: else it has none of its pages, and none before its next life.
    pub lives: bool,
    /// How many of its lives have ended, and their pages with them.
    pub ended: u64,
    /// Pages of the range: none, if its client is gone for good.
    pub pages: u64,
}

/// A pager whose pages last where they come from.
#[cairn::interface]
pub trait PageStore {
    /// Writes back what was changed, and makes it last; how many pages that were.
    fn flush(&self) -> Result<u64, Error>;
}

/// A section whose pages its clients change in transactions, each on pages that nobody else changes meanwhile. The others read what was
/// committed before; what the client has written is there at once for all when it commits, or never. Who writes a page outside of a
/// transaction of its own dies of it.
#[cairn::interface]
pub trait Transactions {
    /// The caller may change `pages` pages of its section from `first` on. `Busy`: it has a transaction already, or one of the pages is in
    /// another one's; `TooLarge`: no transaction has so many.
    fn begin(
        &self,
        caller: Caller,
        thread: CallerThread,
        first: u64,
        pages: u64,
    ) -> Result<(), Error>;
    /// What the caller has written is there for all; how many pages that are. It lasts, if the pager is connected to what makes it last.
    /// None of the caller's other threads is to write there meanwhile: what they write may be lost. `NotFound`: it has no transaction.
    fn commit(&self, caller: Caller, thread: CallerThread) -> Result<u64, Error>;
    /// What the caller has written was never there; how many pages that are. `NotFound`: it has no transaction. So it is at the end of
    /// a client's life, too.
    fn abort(&self, caller: Caller, thread: CallerThread) -> Result<u64, Error>;
}
