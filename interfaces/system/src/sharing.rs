//! Distributed shared memory: pages that clients of several *nodes* have, each node a pager, with one *home* that says who has which.

use cairn::{Caller, Error};

/// What nodes say to the home, and what it says to them. Each method is a message there and one back, with all that it means in its
/// parameters; so nodes and home can be on different machines, with a component between them that carries the messages.
#[cairn::interface]
pub trait SharedPages {
    /// A node begins, with no page, and has so many; the number of its membership, which goes with all that it says. What it had
    /// in another life is what the home has of it.
    fn join(&self, caller: Caller, pages: u64) -> Result<u64, Error>;
    /// A node wants a page, to read or to write, and waits until it has it: until then the others that have it are told to give it back. The number
    /// of this grant; and whether the buffer has what is on the page: else the node has that. `NotFound`, here and below: it is no member any more, since it
    /// gave nothing back for too long; what it has is not the page.
    fn fetch(
        &self,
        caller: Caller,
        membership: u64,
        page: u64,
        to_write: bool,
        content: &mut [u8],
    ) -> Result<(u64, bool), Error>;
    /// Waits until a node is to give a page back, and says so again until it has. `TimedOut`: there is none for now; it asks again.
    fn next_order(&self, caller: Caller, membership: u64) -> Result<PageOrder, Error>;
    /// A node gives back a page that it has by this grant, as it is; it may go on reading it if it `keeps` it.
    fn give_back(
        &self,
        caller: Caller,
        membership: u64,
        page: u64,
        grant: u64,
        keeps: bool,
        content: &[u8],
    ) -> Result<(), Error>;
}

/// A node is to give a page back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct PageOrder {
    /// Which page.
    pub page: u64,
    /// By which grant it has it. If that has not come yet, it is about to.
    pub grant: u64,
    /// It may go on reading it.
    pub keeps: bool,
}
