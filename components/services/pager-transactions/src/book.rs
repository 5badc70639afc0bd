//! Frames and transactions. A frame has the *committed* content of a page, which all clients read, or what one client has written in its
//! transaction, which nobody else reads.
//!
//! A commit changes no frame: the pages are taken from all clients, the original is changed, and who misses a page again gets it from
//! there. What a thread was answered and has not mapped yet cannot be taken from it: such a frame is *stale*, nobody else's, and is
//! taken from the thread when it comes again.

mod succession;

use cairn::Error;
use cairn_pager::answers::Answers;

/// Most frames.
pub const FRAMES: usize = 512;
/// Most clients.
pub const CLIENTS: usize = 16;

/// What is done with pages. The original is changed by way of its *log*, whose entries are applied when their count says that they are all
/// there: then by whoever finds it.
pub trait Machine {
    /// A frame has what the original has at a page.
    fn fetch(&mut self, frame: usize, page: usize);
    /// A client has none of these pages in its page table.
    fn unmap(&mut self, client: usize, first: usize, pages: usize) -> Result<(), Error>;
    /// An entry of the log: a page is to have what a frame has now.
    fn log(&mut self, entry: usize, page: usize, frame: usize);
    /// The log has so many entries; the original has them, and the log none.
    fn apply(&mut self, entries: usize);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Free,
    Committed(usize),
    Written { client: usize, page: usize },
    Stale,
}

/// What a thread was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Answer {
    frame: u16,
    client: u16,
    page: u32,
}

/// The pages that a transaction may change.
#[derive(Clone, Copy)]
struct Claim {
    first: usize,
    pages: usize,
}

impl Claim {
    fn has(&self, page: usize) -> bool {
        page >= self.first && page - self.first < self.pages
    }
}

/// All frames and transactions.
pub struct Book {
    frames: [Use; FRAMES],
    count: usize,
    /// Where the next frame that makes room is looked for.
    hand: usize,
    answers: Answers<Answer>,
    claims: [Option<Claim>; CLIENTS],
    /// Pages of the section.
    pages: usize,
    /// Most pages that a transaction may change.
    longest: usize,
}

impl Book {
    /// No frames, and no pages.
    pub const fn new() -> Book {
        Book {
            frames: [Use::Free; FRAMES],
            count: 0,
            hand: 0,
            answers: Answers::new(),
            claims: [None; CLIENTS],
            pages: 0,
            longest: 0,
        }
    }

    /// There are so many frames, and pages of the section, and entries of the log.
    pub fn begin(&mut self, frames: usize, pages: usize, longest: usize) {
        (self.count, self.pages, self.longest) = (frames.min(FRAMES), pages, longest);
    }

    fn find(&self, which: Use) -> Option<usize> {
        self.frames[..self.count].iter().position(|frame| *frame == which)
    }

    fn is_answered(&self, frame: usize) -> bool {
        self.answers.open().any(|answer| usize::from(answer.frame) == frame)
    }

    /// Nobody has a frame in a page table, but for who was answered it.
    fn release(&mut self, frame: usize) {
        self.frames[frame] = if self.is_answered(frame) { Use::Stale } else { Use::Free };
    }

    /// The page of a frame with what a client has written.
    fn written(&self, client: usize, frame: usize) -> Option<usize> {
        match self.frames[frame] {
            Use::Written { client: other, page } if other == client => Some(page),
            _ => None,
        }
    }

    /// What a client has written is its no more; how many pages that are.
    fn release_written(&mut self, client: usize) -> u64 {
        let mut count = 0;
        for frame in 0..self.count {
            if self.written(client, frame).is_some() {
                self.release(frame);
                count += 1;
            }
        }
        count
    }

    /// A thread calls: what it was answered is mapped, and taken from it if it is stale.
    fn comes(&mut self, thread: usize, machine: &mut impl Machine) -> Result<(), Error> {
        let Some(answer) = self.answers.take(thread) else { return Ok(()) };
        let frame = usize::from(answer.frame);
        if self.frames[frame] != Use::Stale {
            return Ok(());
        }
        if let Err(error) = machine.unmap(answer.client.into(), answer.page as usize, 1) {
            self.answers.set(thread, answer);
            return Err(error);
        }
        self.release(frame);
        Ok(())
    }

    /// A frame for another content; the committed one that was there is nobody's any more.
    fn take(&mut self, machine: &mut impl Machine) -> Result<usize, Error> {
        if let Some(free) = self.find(Use::Free) {
            return Ok(free);
        }
        for frame in (self.hand..self.count).chain(0..self.hand) {
            if let Use::Committed(page) = self.frames[frame]
                && !self.is_answered(frame)
            {
                (0..CLIENTS).try_for_each(|client| machine.unmap(client, page, 1))?;
                self.frames[frame] = Use::Free;
                self.hand = (frame + 1) % self.count;
                return Ok(frame);
            }
        }
        Err(Error::Exhausted)
    }

    /// A client's thread misses a page, to write it or not: the frame, and whether it may be written. `NotAllowed`: it is in no transaction of
    /// this client. `Exhausted`: every frame has what somebody has written.
    pub fn fault(
        &mut self,
        thread: usize,
        client: usize,
        page: usize,
        writes: bool,
        machine: &mut impl Machine,
    ) -> Result<(usize, bool), Error> {
        self.comes(thread, machine)?;
        if page >= self.pages {
            return Err(Error::NotFound);
        }
        let claim = self.claims.get(client).ok_or(Error::NotFound)?;
        if writes && !claim.is_some_and(|claim| claim.has(page)) {
            return Err(Error::NotAllowed);
        }
        let own = Use::Written { client, page };
        let (which, found) = match self.find(own) {
            Some(frame) => (own, Some(frame)),
            None if writes => (own, None),
            None => (Use::Committed(page), self.find(Use::Committed(page))),
        };
        let frame = match found {
            Some(frame) => frame,
            None => {
                let frame = self.take(machine)?;
                machine.fetch(frame, page);
                self.frames[frame] = which;
                frame
            }
        };
        let answer = Answer { frame: frame as u16, client: client as u16, page: page as u32 };
        self.answers.set(thread, answer);
        Ok((frame, which == own))
    }

    /// A client may change these pages from now on, and nobody else. `Busy`: it has a transaction already, or one of the pages is in
    /// another client's. `TooLarge`: the log does not hold so many.
    pub fn claim(
        &mut self,
        thread: usize,
        client: usize,
        first: u64,
        pages: u64,
        machine: &mut impl Machine,
    ) -> Result<(), Error> {
        self.comes(thread, machine)?;
        self.put_claim(client, first, pages)
    }

    fn put_claim(&mut self, client: usize, first: u64, pages: u64) -> Result<(), Error> {
        let end = first.checked_add(pages).filter(|end| pages > 0 && *end <= self.pages as u64);
        let end = end.ok_or(Error::BadArgument)? as usize;
        let (first, pages) = (first as usize, pages as usize);
        if pages > self.longest {
            return Err(Error::TooLarge);
        }
        let mut others = self.claims.iter().flatten();
        let overlaps = others.any(|other| first < other.first + other.pages && other.first < end);
        let own = self.claims.get_mut(client).ok_or(Error::NotFound)?;
        if overlaps || own.is_some() {
            return Err(Error::Busy);
        }
        *own = Some(Claim { first, pages });
        Ok(())
    }

    fn claimed(&self, client: usize) -> Result<Claim, Error> {
        self.claims.get(client).copied().flatten().ok_or(Error::NotFound)
    }

    /// What a client has written in its transaction is what the original has; how many pages that are. `NotFound`: it has none.
    pub fn commit(
        &mut self,
        thread: usize,
        client: usize,
        machine: &mut impl Machine,
    ) -> Result<u64, Error> {
        self.comes(thread, machine)?;
        let claim = self.claimed(client)?;
        // From here on whoever misses one of the pages waits for this call.
        (0..CLIENTS).try_for_each(|other| machine.unmap(other, claim.first, claim.pages))?;
        let mut count = 0;
        for frame in 0..self.count {
            if let Some(page) = self.written(client, frame) {
                machine.log(count, page, frame);
                count += 1;
            }
        }
        machine.apply(count);
        for frame in 0..self.count {
            if let Some(page) = self.written(client, frame)
                && let Some(former) = self.find(Use::Committed(page))
            {
                self.release(former);
            }
        }
        self.claims[client] = None;
        Ok(self.release_written(client))
    }

    /// What a client has written in its transaction is forgotten; how many pages that are. `NotFound`: it has none.
    pub fn abort(
        &mut self,
        thread: usize,
        client: usize,
        machine: &mut impl Machine,
    ) -> Result<u64, Error> {
        self.comes(thread, machine)?;
        let claim = self.claimed(client)?;
        machine.unmap(client, claim.first, claim.pages)?;
        self.claims[client] = None;
        Ok(self.release_written(client))
    }

    /// A client's life has ended, and with it its page table and its threads.
    pub fn end(&mut self, client: usize) {
        self.answers.forget(|answer| usize::from(answer.client) == client);
        self.release_written(client);
        for frame in 0..self.count {
            if self.frames[frame] == Use::Stale {
                self.release(frame);
            }
        }
        if let Some(claim) = self.claims.get_mut(client) {
            *claim = None;
        }
    }
}

impl Default for Book {
    fn default() -> Self {
        Self::new()
    }
}
