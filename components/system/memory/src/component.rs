//! Entry points: from the portals' registers to the manager.

mod loading;
mod windows;

use cairn::cached::Cached;
use cairn::in_place::State as InPlace;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, environment, privileged};
use cairn_abi::address::{PAGE_SIZE, ROLE_MEMORY};
use cairn_abi::arch::trap::FETCH_PAGE_FAULT;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::{
    CONTENT_CLIENT_STACK, CONTENT_CONSTANTS, CONTENT_HEAP, CONTENT_STACK, CONTENT_TEXT,
    CONTENT_THREAD_STACK,
};
use cairn_abi::{DomainId, InstanceId};
use cairn_interfaces as interfaces;
use cairn_interfaces::{MemoryContent, MemoryPart};
use cairn_memory::live::Record;
use cairn_memory::manager::{Manager, State};
use cairn_memory::measure::Measured;
use cairn_memory::paging::Served;
use cairn_memory::refusal::{Lack, Wanted};
use cairn_memory::tables::Tables;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Most bytes of a `peek`, as many as a portal copies.
const PEEK_MAXIMUM: usize = 64;

/// All that lasts, which names nothing of this content: a successor goes on with it.
static STATE: InPlace<State> = InPlace::new(State::empty());
/// Raise it with each change of what is in there.
const STATE_VERSION: u64 = 2;
/// What every call looks for: that takes longer than most of them.
static MANAGER: Cached<Manager<'static>> = Cached::new();
/// Bits of instances of which it was said that something is lacking, for each [`Lack`].
static TOLD: [[AtomicU64; INSTANCES_MAXIMUM.div_ceil(64)]; Lack::COUNT] =
    [const { [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM.div_ceil(64)] }; Lack::COUNT];

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "memory",
    exports: {
        memory: interfaces::Memory = SERVER,
        control: interfaces::MemoryControl = SERVER,
        loading: interfaces::DomainMemory = SERVER,
        statistics: interfaces::MemoryStatistics = SERVER,
        paging: interfaces::Paging = SERVER,
        windows: interfaces::Windows = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
    main: main,
}

fn fence() {
    // The portal is granted to this component and takes any address.
    let _ = privileged::fence_translation(0);
}

/// The manager on what the layout left; `NotSupported` if this instance does not hold its role.
fn manager() -> Option<Manager<'static>> {
    let record = cairn::record::Record::find()?;
    let tables = environment::section("page-tables")?;
    let memory = environment::section("memory")?;
    let header = record.header;
    // In user mode and in the kernel domain: the distance from where physical address 0 would be.
    let memory_physical = memory.address() as u64 % ROLE_MEMORY;
    let memory = memory.words(memory.size() / 8);
    // Not as the others see it: here it changes.
    let words = (header.record.wrapping_sub(memory_physical) / 8) as usize;
    let words = memory.get(words..words.wrapping_add((header.size / 8) as usize))?;
    let first_free = header.free_page_tables.start - cairn_abi::address::PAGE_TABLES;
    Some(Manager {
        state: &STATE,
        header,
        record: Record::new(header, words),
        tables: Tables {
            words: tables.words(tables.size() / 8),
            physical: header.page_tables_physical,
            free: &STATE.tables,
            first_free: (first_free / PAGE_SIZE) as usize,
        },
        memory,
        memory_physical,
        fence,
    })
}

/// Begins, unless a call of a client came first and did.
fn main() {
    let _: Result<(), Error> = with(|_| Ok(()));
}

fn with<T, E: From<Error>>(body: impl FnOnce(&Manager) -> Result<T, E>) -> Result<T, E> {
    let made = || manager().inspect(Manager::begin);
    MANAGER.with(made, body).unwrap_or(Err(Error::NotSupported.into()))
}

/// Says in this component's log what an instance lacked that asked for pages or for a section: once, or one that dies of it again
/// and again would write over what is said of others.
#[cold]
fn tell(manager: &Manager, who: InstanceId, wanted: Wanted) {
    let Some(refusal) = manager.refusal(who, wanted) else { return };
    // Relaxed: a bit says nothing of other memory.
    let told = &TOLD[refusal.lack as usize][who.index() / 64];
    let bit = 1 << (who.index() % 64);
    if told.fetch_or(bit, Relaxed) & bit == 0 {
        cairn::log::warn!(target: "refused", "{refusal}");
    }
}

/// [`with`], for what is charged to a quota.
fn charged<T>(
    who: InstanceId,
    wanted: Wanted,
    body: impl FnOnce(&Manager) -> Result<T, Error>,
) -> Result<T, Error> {
    with(|manager| {
        body(manager).inspect_err(|error| {
            if *error == Error::Exhausted {
                tell(manager, who, wanted);
            }
        })
    })
}

impl interfaces::InPlace for Server {
    fn state(&self) -> Result<interfaces::StatePlace, Error> {
        Ok(interfaces::StatePlace::of(&STATE, STATE_VERSION))
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, env!("CARGO_PKG_VERSION").as_bytes())
    }
}

impl interfaces::Memory for Server {
    fn allocate(&self, caller: Caller, pages: u64) -> Result<u64, Error> {
        charged(caller.0, Wanted::Pages(pages), |manager| manager.allocate(caller.0, pages))
    }

    fn free(&self, caller: Caller, address: u64, pages: u64) -> Result<(), Error> {
        with(|manager| manager.free(caller.0, address, pages))
    }

    fn make_section(&self, caller: Caller, pages: u64) -> Result<u64, Error> {
        let wanted = Wanted::Section(pages.saturating_add(1));
        charged(caller.0, wanted, |manager| manager.make_section(caller.0, pages))
    }

    fn share(
        &self,
        caller: Caller,
        section: u64,
        with_whom: InstanceId,
        writable: bool,
    ) -> Result<(), Error> {
        with(|manager| manager.share(caller.0, section, with_whom, writable))
    }

    fn accept(&self, caller: Caller, section: u64) -> Result<(u64, InstanceId), Error> {
        let pages = with(|manager| Ok(manager.pages_of(section)))?;
        let wanted = Wanted::Section(pages + 1);
        charged(caller.0, wanted, |manager| manager.accept(caller.0, section))
    }

    fn drop_section(&self, caller: Caller, section: u64) -> Result<(), Error> {
        with(|manager| manager.drop_section(caller.0, section))
    }

    fn extend(&self, caller: Caller, address: u64, pages: u64) -> Result<(), Error> {
        let wanted = Wanted::Pages(pages);
        charged(caller.0, wanted, |manager| manager.extend(caller.0, address, pages))
    }
}

impl interfaces::MemoryControl for Server {
    fn page_fault(&self, domain: DomainId, address: u64, cause: u64) -> Result<(), Error> {
        // A range's pager is called by the portal of its faults. What comes here is a stack that grows, or nothing to be mended.
        if cause == FETCH_PAGE_FAULT {
            return Err(Error::NotFound);
        }
        with(|manager| {
            let grown = manager.grow_at(domain, address);
            if let (Err(Error::Exhausted), Some(who)) = (grown, manager.grows_at(domain, address)) {
                tell(manager, who, Wanted::Pages(1));
            }
            grown
        })
    }

    fn kill(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.kill(instance))
    }

    fn bring_back(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.bring_back(instance))
    }

    fn release(&self, instance: InstanceId, cursor: u64) -> Result<u64, Error> {
        with(|manager| manager.release(instance, cursor))
    }

    fn release_for_successor(&self, instance: InstanceId, cursor: u64) -> Result<u64, Error> {
        with(|manager| manager.release_for_successor(instance, cursor))
    }

    fn renew(&self, instance: InstanceId, cursor: u64, but_stacks: bool) -> Result<u64, Error> {
        with(|manager| manager.renew(instance, cursor, but_stacks))
    }

    fn exchange(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error> {
        with(|manager| manager.exchange(instance, successor))
    }

    fn attach(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error> {
        with(|manager| manager.attach(instance, successor))
    }

    fn repoint(&self, instance: InstanceId, pairs: ReadWindow<'_>) -> Result<(), Error> {
        let mut buffer = [0; interfaces::PAIRS_SIZE];
        let pairs = interfaces::pairs(pairs.copy(&mut buffer)?);
        with(|manager| manager.repoint(instance, pairs))
    }

    fn revive(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.revive(instance))
    }

    fn serves(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.serves(instance))
    }

    fn peek(
        &self,
        instance: InstanceId,
        address: u64,
        window: WriteWindow<'_>,
    ) -> Result<(), Error> {
        let mut bytes = [0; PEEK_MAXIMUM];
        let bytes = bytes.get_mut(..window.len()).ok_or(Error::TooLarge)?;
        let (words, _) = bytes.as_chunks_mut::<8>();
        with(|manager| manager.peek(instance, address, words))?;
        window.write(0, bytes).map(|_| ())
    }
}

impl interfaces::Paging for Server {
    fn range(&self, caller: Caller, at: u64) -> Result<interfaces::ServedRange, Error> {
        with(|manager| {
            let Served { number, pages, section } = manager.served(caller.0, at)?;
            Ok(interfaces::ServedRange { number, pages, section })
        })
    }

    fn client(&self, caller: Caller, range: u64) -> Result<interfaces::RangeClient, Error> {
        with(|manager| {
            let (instance, lives, ended, pages) = manager.client(caller.0, range)?;
            Ok(interfaces::RangeClient { instance, lives, ended, pages })
        })
    }

    fn has(&self, caller: Caller, range: u64, page: u64) -> Result<bool, Error> {
        with(|manager| manager.has_page(caller.0, range, page))
    }

    fn unmap(&self, caller: Caller, range: u64, first: u64, pages: u64) -> Result<(), Error> {
        with(|manager| manager.unmap_range(caller.0, range, first, pages))
    }

    fn kept(&self, caller: Caller, from: u64) -> Result<(u64, u64), Error> {
        with(|manager| manager.kept(caller.0, from))
    }
}

impl interfaces::MemoryStatistics for Server {
    fn usage(&self) -> Result<(u64, u64), Error> {
        with(|manager| Ok(manager.usage()))
    }

    fn usage_of(&self, instance: InstanceId) -> Result<(u64, u64), Error> {
        with(|manager| manager.usage_of(instance))
    }

    fn measure(&self, instance: InstanceId, at: u64) -> Result<MemoryPart, Error> {
        with(|manager| {
            let Measured { next, content, size, used } = manager.measure(instance, at)?;
            let content = match content {
                Some(CONTENT_TEXT) => MemoryContent::Text,
                Some(CONTENT_CONSTANTS) => MemoryContent::Constants,
                Some(CONTENT_HEAP) => MemoryContent::Heap,
                Some(CONTENT_STACK) => MemoryContent::Stack,
                Some(CONTENT_CLIENT_STACK) => MemoryContent::ClientStack,
                Some(CONTENT_THREAD_STACK) => MemoryContent::ThreadStack,
                Some(_) => MemoryContent::Data,
                None => MemoryContent::RunTime,
            };
            Ok(MemoryPart { next, content, size, used })
        })
    }
}
