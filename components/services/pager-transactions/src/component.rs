//! Entry points. The original has the section's pages, then a page that says what is in the log, then the log.

use cairn::section::Section;
use cairn::successor::Writer;
use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, CallerThread, Error, InstanceId, PortalIndex, environment};
use cairn_interfaces::{
    Memory, MemoryStatistics, PAGE_READ, PAGE_WRITE, PageFault, PageStore, Pager, Paging, Portals,
    Successor, Transactions,
};
use cairn_pager::PAGE;
use cairn_pager::handover::{Handover, bytes, words};
use cairn_pager_transactions::book::{Book, CLIENTS, FRAMES, Machine};

/// Words that say which pages are in the log, behind that which says how many.
const LOG_MAXIMUM: usize = PAGE / 8 - 1;
/// The kind of a record for a successor: a client, beside those of the book.
const CLIENT: u8 = 3;

/// A client, in the order of the ranges.
#[derive(Clone, Copy)]
struct Client {
    instance: InstanceId,
    range: u64,
    /// Its life whose pages the book has.
    life: u64,
    /// Its lives that had ended then.
    ended: u64,
}

/// Where pages are.
#[derive(Clone, Copy)]
struct Memories {
    original: Section,
    frames: Section,
    /// Pages of the section, so the number of the page with what is in the log.
    pages: usize,
    clients: [Option<Client>; CLIENTS],
}

struct State {
    book: Book,
    memories: Option<Memories>,
}

struct Server;
static SERVER: Server = Server;
static HANDOVER: Handover = Handover::new(1);
static STATE: Mutex<State> = Mutex::new(State { book: Book::new(), memories: None });

cairn::component! {
    name: "pager-transactions",
    imports: {
        memory: Memory,
        statistics: MemoryStatistics,
        paging: Paging,
        portals: Portals,
        store: Option<PageStore>,
    },
    exports: { pager: Pager = SERVER, transactions: Transactions = SERVER, successor: Successor = SERVER },
    init: prepare,
}

fn refused<T>(error: Error, why: core::fmt::Arguments) -> Result<T, Error> {
    cairn::log::error!("{why}");
    Err(error)
}

/// Learns of the clients, takes what the quota has, and does what a life before has committed.
fn prepare() -> Result<(), Error> {
    let name = environment::argument();
    let Some(original) = environment::section(name).filter(Section::is_writable) else {
        return refused(
            Error::NotFound,
            format_args!(
                "expected the name of a section in `argument`, and that section in `sections`, read-write; found `{name}`"
            ),
        );
    };
    let ranges = cairn_pager::ranges_in::<CLIENTS>(imports::PAGING)?;
    let section = ranges.iter().flatten().next().map(|range| range.section);
    if ranges.iter().flatten().any(|range| Some(range.section) != section) {
        return refused(Error::NotSupported, format_args!("expected one section with this pager"));
    }
    let pages = ranges.iter().flatten().map(|range| range.pages as usize).max().unwrap_or(0);
    let log = (original.size() / PAGE).saturating_sub(pages + 1).min(LOG_MAXIMUM);
    if log == 0 {
        return refused(
            Error::TooLarge,
            format_args!(
                "`{name}` has {} pages: expected the {pages} of the section, one more, and as many as a transaction changes",
                original.size() / PAGE
            ),
        );
    }
    let mut clients = [None; CLIENTS];
    for (place, range) in clients.iter_mut().zip(ranges.into_iter().flatten()) {
        let client = imports::PAGING.client(range.number)?;
        let (instance, ended) = (client.instance, client.ended);
        *place = Some(Client { instance, range: range.number, life: u64::MAX, ended });
    }
    let of = (&imports::MEMORY, &imports::STATISTICS);
    let (frames, _) = HANDOVER.memory(of, imports::PAGING, FRAMES as u64)?;
    let mut memories = Memories { original, frames, pages, clients };
    memories.recover(log)?;
    let mut state = STATE.lock()?;
    state.book.begin(frames.size() / PAGE, pages, log);
    state.memories = Some(memories);
    Ok(())
}

impl Memories {
    fn word_of_log(&self, word: usize) -> usize {
        self.pages * PAGE + word * 8
    }

    /// What is in a log that is whole is committed, and may be in the original in part.
    fn recover(&mut self, log: usize) -> Result<(), Error> {
        let count = self.original.load(self.word_of_log(0));
        let page = |entry| self.original.load(self.word_of_log(1 + entry as usize));
        if count > log as u64 || (0..count).any(|entry| page(entry) >= self.pages as u64) {
            return refused(
                Error::Malformed,
                format_args!("the original has something else where its log is expected"),
            );
        }
        if count > 0 {
            cairn::log::info!("{count} pages that were committed are taken from the log");
            self.apply(count as usize);
        }
        Ok(())
    }

    /// Writes for a successor whose lives the book knows.
    fn write(&self, writer: &mut Writer) -> Result<(), Error> {
        self.clients.iter().flatten().try_for_each(|client| {
            let record = [client.range, client.life, client.ended];
            writer.record(CLIENT, &[bytes(record).as_flattened()])
        })
    }

    /// Takes over such a record.
    fn take_over(&mut self, record: &[u8]) -> Result<(), Error> {
        let [range, life, ended] = words(record)?;
        let mut clients = self.clients.iter_mut().flatten();
        let client = clients.find(|client| client.range == range).ok_or(Error::Malformed)?;
        (client.life, client.ended) = (life, ended);
        Ok(())
    }
}

impl Machine for Memories {
    fn fetch(&mut self, frame: usize, page: usize) {
        self.frames.copy_from(frame * PAGE, &self.original, page * PAGE, PAGE);
    }

    fn unmap(&mut self, client: usize, first: usize, pages: usize) -> Result<(), Error> {
        let Some(client) = self.clients[client] else { return Ok(()) };
        imports::PAGING.unmap(client.range, first as u64, pages as u64)
    }

    fn log(&mut self, entry: usize, page: usize, frame: usize) {
        let to = (self.pages + 1 + entry) * PAGE;
        self.original.copy_from(to, &self.frames, frame * PAGE, PAGE);
        self.original.store(self.word_of_log(1 + entry), page as u64);
    }

    fn apply(&mut self, entries: usize) {
        let original = self.original;
        original.store(self.word_of_log(0), entries as u64);
        for entry in 0..entries {
            let page = original.load(self.word_of_log(1 + entry)) as usize;
            let from = (self.pages + 1 + entry) * PAGE;
            original.copy_from(page * PAGE, &original, from, PAGE);
        }
        original.store(self.word_of_log(0), 0);
    }
}

impl State {
    fn parts(&mut self) -> Result<(&mut Book, &mut Memories), Error> {
        let State { book, memories } = self;
        Ok((book, memories.as_mut().ok_or(Error::NotReady)?))
    }

    /// Whose call it is, if it has a range; what lives that have ended have left is no more.
    fn client(&mut self, caller: Caller) -> Result<usize, Error> {
        HANDOVER.check();
        self.end_lives()?;
        let (_, memories) = self.parts()?;
        let is_it = |client: &Option<Client>| client.is_some_and(|one| one.instance == caller.0);
        memories.clients.iter().position(is_it).ok_or(Error::NotFound)
    }

    fn end_lives(&mut self) -> Result<(), Error> {
        let (book, memories) = self.parts()?;
        for (at, client) in memories.clients.iter_mut().enumerate() {
            let Some(client) = client else { continue };
            let ended = imports::PAGING.client(client.range)?.ended;
            if ended != client.ended {
                client.ended = ended;
                book.end(at);
            }
        }
        Ok(())
    }

    fn fault(&mut self, thread: usize, fault: PageFault) -> Result<u64, Error> {
        HANDOVER.check();
        let (_, memories) = self.parts()?;
        let is_it = |client: &Option<Client>| client.is_some_and(|one| one.range == fault.range);
        let at = memories.clients.iter().position(is_it).ok_or(Error::NotFound)?;
        let client = memories.clients[at].as_mut().ok_or(Error::NotFound)?;
        let instance = client.instance.0;
        if client.life != fault.life {
            client.life = fault.life;
            self.end_lives()?;
        }
        let (page, writes) = (fault.offset as usize / PAGE, fault.rights == PAGE_WRITE);
        let provide = |state: &mut State| {
            let (book, memories) = state.parts()?;
            let (frame, writable) = book.fault(thread, at, page, writes, memories)?;
            let rights = if writable { PAGE_WRITE } else { PAGE_READ };
            Ok((memories.frames.address() + frame * PAGE) as u64 | rights)
        };
        let answer = match provide(self) {
            Err(Error::Exhausted) => {
                self.end_lives()?;
                provide(self)
            }
            answer => answer,
        };
        match answer {
            Err(Error::NotAllowed) => {
                cairn::log::warn!(target: "refused", "instance {instance} writes page {page} outside of a transaction");
            }
            Err(Error::Exhausted) => {
                cairn::log::warn!(target: "refused", "no page is left for instance {instance}: raise `memory`");
            }
            _ => {}
        }
        answer
    }
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
        STATE.lock()?.fault(thread.0 as usize, fault)
    }
}

impl Transactions for Server {
    fn begin(
        &self,
        caller: Caller,
        thread: CallerThread,
        first: u64,
        pages: u64,
    ) -> Result<(), Error> {
        let mut state = STATE.lock()?;
        let client = state.client(caller)?;
        let (book, memories) = state.parts()?;
        book.claim(thread.0 as usize, client, first, pages, memories)
    }

    fn commit(&self, caller: Caller, thread: CallerThread) -> Result<u64, Error> {
        let mut state = STATE.lock()?;
        let client = state.client(caller)?;
        let (book, memories) = state.parts()?;
        let count = book.commit(thread.0 as usize, client, memories)?;
        if let Some(store) = imports::STORE.get() {
            store.flush()?;
        }
        Ok(count)
    }

    fn abort(&self, caller: Caller, thread: CallerThread) -> Result<u64, Error> {
        let mut state = STATE.lock()?;
        let client = state.client(caller)?;
        let (book, memories) = state.parts()?;
        book.abort(thread.0 as usize, client, memories)
    }
}

impl Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        let mut state = STATE.lock()?;
        let (book, memories) = state.parts()?;
        book.settle(memories)?;
        HANDOVER.export(from, part, &memories.frames, |writer| {
            memories.write(writer)?;
            book.write(writer)
        })
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut state = STATE.lock()?;
        let (book, memories) = state.parts()?;
        let frames = memories.frames;
        HANDOVER.import((size, from), part, &frames, |kind, record| match kind {
            CLIENT => memories.take_over(record),
            kind => book.take_over(kind, record),
        })
    }
}
