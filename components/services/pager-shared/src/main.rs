//! Provides a section that clients of several such pagers share, page by page: one node has a page to write, or any number to read. Each is
//! a node of a `shared-home`, by messages alone (`SharedPages`): no node has memory of another one's.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::successor::Writer;
use cairn::sync::Mutex;
use cairn::thread::sleep;
use cairn::time::Duration;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{CallerThread, Error, PortalIndex};
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_READ, PAGE_WRITE, PageFault, PageOrder, Pager, Paging, Portals,
    ServedRange, SharedPages, Successor, Threads,
};
use cairn_pager::PAGE;
use cairn_pager::answers::Answers;
use cairn_pager::handover::{Handover, bytes, words};
use cairn_pager::stored::Buffer;
use core::convert::Infallible;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const RANGES: usize = 16;
const PAGES: usize = 512;
/// Until what another thread is about to do is looked for again.
const SOON: Duration = Duration::from_micros(20);

/// Kinds of records for a successor: the number of the membership, and a page that this node has.
const MEMBER: u8 = 1;
const HAS: u8 = 2;

/// What this node has of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Has {
    Nothing,
    ToRead,
    ToWrite,
}

#[derive(Clone, Copy)]
struct Page {
    has: Has,
    /// The grant by which it came last.
    grant: u64,
}

struct Node {
    /// A frame for each page.
    memory: Option<Section>,
    pages: [Page; PAGES],
    ranges: [Option<ServedRange>; RANGES],
    /// How many lives of each range's client have ended.
    ended: [u64; RANGES],
    /// Range and page.
    answers: Answers<(usize, usize)>,
    leaving: Buffer,
    /// A successor was told what this node has, so this content gives nothing back any more.
    is_told: bool,
}

struct Server;
static SERVER: Server = Server;
static NODE: Mutex<Node> = Mutex::new(Node {
    memory: None,
    pages: [Page { has: Has::Nothing, grant: 0 }; PAGES],
    ranges: [None; RANGES],
    ended: [0; RANGES],
    answers: Answers::new(),
    leaving: Buffer([0; PAGE]),
    is_told: false,
});
/// Held by who fetches a page; taken before `NODE`.
static FETCHED: Mutex<Buffer> = Mutex::new(Buffer([0; PAGE]));
// Relaxed: it is stored before anybody else runs here.
static MEMBERSHIP: AtomicU64 = AtomicU64::new(0);
static HANDOVER: Handover = Handover::new(1);

cairn::component! {
    name: "pager-shared",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        threads: Threads,
        home: SharedPages,
    },
    exports: { pager: Pager = SERVER, successor: Successor = SERVER },
    init: prepare,
    main: serve_home,
}

fn membership() -> u64 {
    MEMBERSHIP.load(Relaxed)
}

fn prepare() -> Result<(), Error> {
    let ranges = cairn_pager::ranges_in(imports::PAGING)?;
    let section = ranges.iter().flatten().next().map(|range: &ServedRange| range.section);
    let pages = ranges.iter().flatten().map(|range| range.pages).max().unwrap_or(0);
    if ranges.iter().flatten().any(|range| Some(range.section) != section) || pages > PAGES as u64 {
        cairn::log::error!("expected one section with this pager, of at most {PAGES} pages");
        return Err(Error::NotSupported);
    }
    let of = (&imports::MEMORY, &imports::STATISTICS);
    let (memory, is_new) = HANDOVER.memory(of, imports::PAGING, pages)?;
    if memory.size() as u64 / (PAGE as u64) < pages {
        cairn::log::error!("raise `memory`: it holds {} of {pages} pages", memory.size() / PAGE);
        return Err(Error::Exhausted);
    }
    if is_new {
        MEMBERSHIP.store(imports::HOME.join(pages)?, Relaxed);
    }
    let mut node = NODE.lock()?;
    for (ended, range) in node.ended.iter_mut().zip(ranges.iter().flatten()) {
        *ended = imports::PAGING.client(range.number)?.ended;
    }
    (node.memory, node.ranges) = (Some(memory), ranges);
    Ok(())
}

/// Gives back what others want. An error is the end of this node: its clients lose what they have of it.
fn serve_home() -> Result<Infallible, Error> {
    while HANDOVER.waits() {
        sleep(SOON)?;
    }
    loop {
        match imports::HOME.next_order(membership()) {
            Ok(order) => {
                while !give_back(order)? {
                    sleep(SOON)?;
                }
            }
            Err(Error::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether it is done; else the grant, or what a thread was answered, is on its way.
fn give_back(order: PageOrder) -> Result<bool, Error> {
    let mut node = NODE.lock()?;
    let at = order.page as usize;
    let page = *node.pages.get(at).ok_or(Error::Malformed)?;
    if node.is_told || page.grant < order.grant || !node.has_landed(at)? {
        return Ok(false);
    }
    // From here on who misses it waits for this call, and then for the home.
    node.take_from_clients(at)?;
    node.pages[at].has = if order.keeps { Has::ToRead.min(page.has) } else { Has::Nothing };
    let frame = node.frame(at)?;
    node.leaving.load(&frame);
    let Node { leaving, .. } = &*node;
    imports::HOME.give_back(membership(), order.page, order.grant, order.keeps, &leaving.0)?;
    Ok(true)
}

impl Node {
    fn memory(&self) -> Result<Section, Error> {
        self.memory.ok_or(Error::NotReady)
    }

    fn frame(&self, page: usize) -> Result<Section, Error> {
        Ok(self.memory()?.part(page * PAGE, PAGE))
    }

    /// Whether all that threads were answered for a page is mapped, or never will be.
    fn has_landed(&mut self, page: usize) -> Result<bool, Error> {
        for (at, range) in self.ranges.iter().enumerate() {
            let Some(range) = range else { continue };
            if !self.answers.open().any(|answer| answer == (at, page)) {
                continue;
            }
            let client = imports::PAGING.client(range.number)?;
            if core::mem::replace(&mut self.ended[at], client.ended) != client.ended {
                // Its threads are no more.
                self.answers.forget(|(other, _)| other == at);
            } else if imports::PAGING.has(range.number, page as u64)? {
                self.answers.forget(|answer| answer == (at, page));
            } else if client.lives {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn take_from_clients(&self, page: usize) -> Result<(), Error> {
        let mut ranges = self.ranges.iter().flatten();
        ranges.try_for_each(|range| imports::PAGING.unmap(range.number, page as u64, 1))
    }

    /// What a client's thread is answered, if this node has the page; `None`: another thread's answer is on its way, or the page is to be
    /// fetched.
    fn answer(&mut self, thread: usize, fault: PageFault) -> Result<Option<u64>, Error> {
        self.answers.take(thread);
        // Whatever became of its successor, this content goes on.
        self.is_told = false;
        let is_it =
            |range: &Option<ServedRange>| range.is_some_and(|one| one.number == fault.range);
        let range = self.ranges.iter().position(is_it).ok_or(Error::NotFound)?;
        let page = fault.offset as usize / PAGE;
        let has = self.pages.get(page).ok_or(Error::NotFound)?.has;
        if has < wanted(fault) || !self.has_landed(page)? {
            return Ok(None);
        }
        // What its client has there to read would pass for this answer.
        imports::PAGING.unmap(fault.range, page as u64, 1)?;
        self.answers.set(thread, (range, page));
        let rights = if has == Has::ToWrite { PAGE_WRITE } else { PAGE_READ };
        Ok(Some(self.frame(page)?.address() as u64 | rights))
    }

    /// Writes for a successor what this node has. No client is inside, so whatever was answered is mapped, or never will be.
    fn write(&self, writer: &mut Writer) -> Result<(), Error> {
        writer.record(MEMBER, &[bytes([membership()]).as_flattened()])?;
        for (at, page) in self.pages.iter().enumerate().filter(|(_, page)| page.has != Has::Nothing)
        {
            let record = [at as u64, (page.has == Has::ToWrite).into(), page.grant];
            writer.record(HAS, &[bytes(record).as_flattened()])?;
        }
        Ok(())
    }

    /// Takes over such a record.
    fn take(&mut self, kind: u8, record: &[u8]) -> Result<(), Error> {
        match kind {
            MEMBER => {
                let [number] = words(record)?;
                MEMBERSHIP.store(number, Relaxed);
            }
            HAS => {
                let [at, to_write, grant] = words(record)?;
                let pages = self.memory()?.size() / PAGE;
                let page = self.pages[..pages.min(PAGES)].get_mut(at as usize);
                let page = page.filter(|page| page.has == Has::Nothing).ok_or(Error::Malformed)?;
                let has = if to_write != 0 { Has::ToWrite } else { Has::ToRead };
                *page = Page { has, grant };
            }
            _ => return Err(Error::VersionMismatch),
        }
        Ok(())
    }
}

/// What this node is to have for a fault.
fn wanted(fault: PageFault) -> Has {
    if fault.rights == PAGE_WRITE { Has::ToWrite } else { Has::ToRead }
}

/// Gets a page from home, unless another thread has; whether it did.
fn fetch(fault: PageFault) -> Result<bool, Error> {
    let page = fault.offset as usize / PAGE;
    let mut fetched = FETCHED.lock()?;
    if NODE.lock()?.pages[page].has >= wanted(fault) {
        return Ok(false);
    }
    let to_write = wanted(fault) == Has::ToWrite;
    let (grant, has_content) =
        imports::HOME.fetch(membership(), page as u64, to_write, &mut fetched.0)?;
    let mut node = NODE.lock()?;
    if has_content {
        fetched.store(&node.frame(page)?);
    }
    node.pages[page] = Page { has: wanted(fault), grant };
    Ok(true)
}

impl Pager for Server {
    fn page_fault(
        &self,
        portal: PortalIndex,
        thread: CallerThread,
        fault: PageFault,
    ) -> Result<u64, Error> {
        if portal.0 != 0 {
            return Err(Error::NotAllowed);
        }
        HANDOVER.check();
        loop {
            if let Some(answer) = NODE.lock()?.answer(thread.0 as usize, fault)? {
                return Ok(answer);
            }
            if !fetch(fault)? {
                sleep(SOON)?;
            }
        }
    }
}

impl Successor for Server {
    fn call_home(&self, called: bool) -> Result<(), Error> {
        NODE.lock()?.is_told &= called;
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        let mut node = NODE.lock()?;
        // A page that is on its way home has left, or is here.
        node.is_told = true;
        HANDOVER.export(from, part, &node.memory()?, |writer| node.write(writer))
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut node = NODE.lock()?;
        node.is_told = false;
        let memory = node.memory()?;
        HANDOVER.import((size, from), part, &memory, |kind, record| node.take(kind, record))
    }
}
