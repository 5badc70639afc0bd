//! Which node has which page: one to write, or any number to read.
//!
//! Who asks for a page that others have in a way that does not go together with it waits, alone, until these have been told and have
//! given it back. Every grant of a page to a node has a number, which what the node is told and gives back names: so neither is taken
//! for one of another grant, however late it comes.

use cairn::Error;

/// Most nodes, and pages.
pub const NODES: usize = 8;
pub const PAGES: usize = 512;

#[derive(Clone, Copy)]
struct Page {
    /// A bit for each node that has it.
    holders: u8,
    /// The one holder may write it.
    is_written: bool,
    /// The node that waits for it, and 1, and whether it is to write.
    wanted: u8,
    to_write: bool,
}

/// A node has a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub number: u32,
    /// The node has not had it, and wants what is on it.
    pub wants_content: bool,
}

/// A node is to give a page back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Which page.
    pub page: usize,
    /// The grant's number.
    pub grant: u32,
    /// It may go on reading it.
    pub keeps: bool,
}

/// All pages and nodes.
pub struct Directory {
    pages: [Page; PAGES],
    count: usize,
    grants: [[u32; PAGES]; NODES],
    /// The numbers of memberships; 0: no member.
    members: [u64; NODES],
    joined: u64,
}

impl Directory {
    /// No pages, no nodes.
    pub const fn new() -> Directory {
        let page = Page { holders: 0, is_written: false, wanted: 0, to_write: false };
        Directory {
            pages: [page; PAGES],
            count: 0,
            grants: [[0; PAGES]; NODES],
            members: [0; NODES],
            joined: 0,
        }
    }

    /// There are so many pages.
    pub fn begin(&mut self, pages: usize) {
        self.count = pages.min(PAGES);
    }

    /// A node begins anew, with no page; the number of its membership.
    pub fn join(&mut self, node: usize) -> u64 {
        self.expel(node);
        self.joined += 1;
        self.members[node] = self.joined;
        self.joined
    }

    /// A node is none any more, and has nothing.
    pub fn expel(&mut self, node: usize) {
        self.members[node] = 0;
        for page in &mut self.pages[..self.count] {
            page.holders &= !(1 << node);
            page.is_written &= page.holders != 0;
            if usize::from(page.wanted) == node + 1 {
                page.wanted = 0;
            }
        }
    }

    /// `NotFound`: the node has been expelled, or has begun anew since.
    pub fn check(&self, node: usize, membership: u64) -> Result<(), Error> {
        let is_it = membership != 0 && self.members[node] == membership;
        is_it.then_some(()).ok_or(Error::NotFound)
    }

    /// The nodes that have a page in a way that does not go together with what is wanted.
    fn in_the_way(page: &Page, node: usize, to_write: bool) -> u8 {
        match to_write || page.is_written {
            true => page.holders & !(1 << node),
            false => 0,
        }
    }

    /// A node asks for a page; `None`: it is to ask again when others have given it back, and is the next then.
    pub fn ask(&mut self, node: usize, at: usize, to_write: bool) -> Result<Option<Grant>, Error> {
        let page = self.pages[..self.count].get_mut(at).ok_or(Error::BadArgument)?;
        if page.wanted != 0 && usize::from(page.wanted) != node + 1 {
            return Ok(None);
        }
        if Directory::in_the_way(page, node, to_write) != 0 {
            (page.wanted, page.to_write) = (node as u8 + 1, to_write);
            return Ok(None);
        }
        let wants_content = page.holders & 1 << node == 0;
        page.holders |= 1 << node;
        page.is_written = to_write || page.is_written;
        page.wanted = 0;
        self.grants[node][at] += 1;
        Ok(Some(Grant { number: self.grants[node][at], wants_content }))
    }

    /// A node waits for a page no more.
    pub fn give_up(&mut self, node: usize, at: usize) {
        if let Some(page) = self.pages.get_mut(at)
            && usize::from(page.wanted) == node + 1
        {
            page.wanted = 0;
        }
    }

    /// What a node is to give back, the same until it has: so an order that is lost on its way is none.
    pub fn order(&self, node: usize) -> Option<Order> {
        let mut pages = self.pages[..self.count].iter().enumerate();
        pages.find_map(|(at, page)| {
            let asker = usize::from(page.wanted).checked_sub(1)?;
            let is_in_the_way = Directory::in_the_way(page, asker, page.to_write) & 1 << node != 0;
            let order = || Order { page: at, grant: self.grants[node][at], keeps: !page.to_write };
            is_in_the_way.then(order)
        })
    }

    /// A node gives a page back, and may go on reading it; whether it has written it. `NotAllowed`: it does not have it by this grant.
    pub fn give_back(
        &mut self,
        node: usize,
        at: usize,
        grant: u32,
        keeps: bool,
    ) -> Result<bool, Error> {
        let page = self.pages[..self.count].get_mut(at).ok_or(Error::BadArgument)?;
        if page.holders & 1 << node == 0 || self.grants[node][at] != grant {
            return Err(Error::NotAllowed);
        }
        let was_written = core::mem::take(&mut page.is_written);
        if !keeps {
            page.holders &= !(1 << node);
        }
        Ok(was_written)
    }

    /// Those for whom a node waits are too late: they are expelled. Whether there were any.
    pub fn expel_late(&mut self, node: usize, at: usize) -> bool {
        let Some(page) = self.pages.get(at) else { return false };
        if usize::from(page.wanted) != node + 1 {
            return false;
        }
        let late = Directory::in_the_way(page, node, page.to_write);
        (0..NODES).filter(|other| late & 1 << other != 0).for_each(|other| self.expel(other));
        late != 0
    }
}

impl Default for Directory {
    fn default() -> Self {
        Self::new()
    }
}
