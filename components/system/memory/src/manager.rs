//! Memory of the instances: what they allocate, and what becomes of it when they die.

use crate::account::Account;
use crate::death::zero;
use crate::frames::Frames;
use crate::instant;
use crate::live::{Entry, Record};
use crate::numbers::Numbers;
use crate::returned::Returned;
use crate::sections::Sections;
use crate::settled::Settled;
use crate::tables::{self, GLOBAL, OWN, READ, Root, TablePool, Tables, USER, WRITE};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::loadable::{Entries, Slot};
use cairn_abi::memory::FREE_PAGES_MAXIMUM;
use cairn_abi::record::{Header, Instance, Segment};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{
    AtomicBool, AtomicI64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};

/// Words of the bitmap of free pages: 256 MiB at most, more is not used.
pub const FRAME_WORDS: usize = FREE_PAGES_MAXIMUM / 64;
/// What lasts between calls.
pub struct State {
    /// Somebody has taken over from the layout.
    begun: AtomicBool,
    /// Free pages.
    pub frames: Frames<FRAME_WORDS>,
    /// Free pages for page tables.
    pub tables: TablePool,
    accounts: [Account; INSTANCES_MAXIMUM],
    /// Sections made at run time.
    pub sections: Sections,
    /// Numbers of instances that come and go.
    pub(crate) numbers: Numbers,
    /// Free pages that the layout gave to instances which are gone.
    pub(crate) returned: Returned,
}

impl State {
    pub(crate) fn account(&self, instance: InstanceId) -> Result<&Account, Error> {
        self.accounts.get(instance.index()).ok_or(Error::NotFound)
    }

    /// Before [`Manager::begin`].
    pub const fn empty() -> State {
        State {
            begun: AtomicBool::new(false),
            frames: Frames::new(),
            tables: Frames::new(),
            accounts: [const { Account::new() }; INSTANCES_MAXIMUM],
            sections: Sections::empty(),
            numbers: Numbers::new(),
            returned: Returned::new(),
        }
    }
}

/// The memory manager at work: its state, and what the layout left.
pub struct Manager<'a> {
    /// State.
    pub state: &'a State,
    /// The record's header.
    pub header: &'a Header,
    /// The record's tables.
    pub record: Record<'a>,
    /// Page tables.
    pub tables: Tables<'a>,
    /// Physical memory as words, and the physical address of the first.
    pub memory: &'a [AtomicI64],
    /// That address.
    pub memory_physical: u64,
    /// Forgets the translations of all addresses.
    pub fence: fn(),
}

impl<'a> Manager<'a> {
    /// Takes over from the layout, if nobody has: whoever comes first does not wait for a thread of the manager's own.
    #[inline(always)]
    pub fn begin(&self) {
        if !self.state.begun.load(Acquire) {
            self.take_over();
            self.state.begun.store(true, Release);
        }
    }

    /// Several threads may do it at the same time. Each makes sure of all of it, and one that comes late changes nothing: what it
    /// stores is the same each time, or is stored over nothing only.
    #[inline(never)]
    pub(crate) fn take_over(&self) {
        let free = self.header.free_memory;
        self.state.frames.limit(((free.end - free.start) / PAGE_SIZE) as usize);
        let tables = self.header.free_page_tables;
        self.state.tables.limit(((tables.end - tables.start) / PAGE_SIZE) as usize);
        self.state.sections.begin();
        let instances = self.record.instances.iter();
        // The other place of one is laid out and is none.
        for record in instances.filter(|one| one.is_there() && one.successor_of().0 == 0) {
            // The host tool numbers them from 1, and no more than there are accounts.
            if let Ok(account) = self.state.account(record.number()) {
                account.describe(self.said(record));
            }
        }
    }

    /// An instance's segments, with their places in the table, from a place of one of them on; 0: all.
    pub(crate) fn placed_segments(
        &self,
        instance: InstanceId,
        from: usize,
    ) -> impl Iterator<Item = (usize, Entry<'a, Segment>)> + use<'a> {
        let all = Entries { first: 0, count: self.header.segments.count };
        // Where components are loaded there are many that are nobody's.
        let places = self
            .places(instance)
            .map_or([all, Entries::default()], |places| [places.segments, places.stacks]);
        let mut places = places.map(Entries::range);
        if places[0].contains(&from) {
            places[0].start = from;
        } else if places[1].contains(&from) {
            places = [0..0, from..places[1].end];
        }
        let table = self.record.segments;
        let segments =
            places.into_iter().flat_map(move |own| own.clone().zip(table.part(Entries::of(own))));
        segments.filter(move |(_, segment)| segment.instance() == instance)
    }

    pub(crate) fn segments_of(
        &self,
        record: Entry<Instance>,
    ) -> impl Iterator<Item = Entry<'a, Segment>> + use<'a> {
        self.placed_segments(record.number(), 0).map(|(_, segment)| segment)
    }

    /// The record of an instance that there is: the only way from its number to its page table and its region.
    pub fn record(&self, instance: InstanceId) -> Result<Entry<'a, Instance>, Error> {
        self.account(instance)?;
        self.place(instance)
    }

    /// The place of a number in the record, whether or not there is an instance.
    pub(crate) fn place(&self, instance: InstanceId) -> Result<Entry<'a, Instance>, Error> {
        let index = instance.index().checked_sub(1).ok_or(Error::NotFound)?;
        self.record.instances.get(index).ok_or(Error::NotFound)
    }

    /// The places of a number in the other tables of the record.
    pub(crate) fn places(&self, instance: InstanceId) -> Result<Slot, Error> {
        let index = instance.index().checked_sub(1).ok_or(Error::NotFound)?;
        Ok(self.record.slots.get(index).ok_or(Error::NotSupported)?.read())
    }

    /// First address behind an instance's activations, as an offset in its region.
    pub(crate) fn base(&self, instance: InstanceId) -> Result<u64, Error> {
        Ok(self.account(instance)?.said().base.into())
    }

    /// Whether pages beside those of the layout count for an instance.
    pub(crate) fn has_more_than_laid_out(&self, instance: InstanceId) -> Result<bool, Error> {
        Ok(self.account(instance)?.used() > 0)
    }

    pub(crate) fn account(&self, instance: InstanceId) -> Result<&'a Account, Error> {
        let account = self.state.account(instance)?;
        account.is_present().then_some(account).ok_or(Error::NotFound)
    }

    /// The page table of an instance's domain.
    pub(crate) fn root(&self, instance: InstanceId) -> Result<Root, Error> {
        self.root_of(self.record(instance)?)
    }

    pub(crate) fn root_of(&self, record: Entry<Instance>) -> Result<Root, Error> {
        self.tables.root(record.space()).ok_or(Error::NotFound)
    }

    /// The page-table entries that lead to all that an instance can execute.
    pub(crate) fn reach(&self, instance: InstanceId) -> Result<&'a [AtomicI64], Error> {
        self.reach_of(self.record(instance)?)
    }

    pub(crate) fn reach_of(&self, record: Entry<Instance>) -> Result<&'a [AtomicI64], Error> {
        let root = self.root_of(record)?;
        let is_apart = record.in_kernel() == 0 && !record.shares_pages();
        let entries = match is_apart {
            true => self.tables.to_user_mode(root),
            false => self.tables.to_region(root, record.start_address()),
        };
        entries.ok_or(Error::NotFound)
    }

    /// Does something that no other thread may do at the same time that is in the instance's page table: it changes that.
    pub(crate) fn alone_in_sections<T>(
        &self,
        instance: InstanceId,
        body: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let record = self.record(instance)?;
        let of = match record.host() {
            host if host != InstanceId(0) && record.is_away() != 0 => host,
            _ => record.leader(),
        };
        let taken = &self.state.account(of)?.in_sections;
        if taken.swap(true, Relaxed) {
            return Err(Error::Busy);
        }
        let result = body();
        taken.store(false, Relaxed);
        result
    }

    /// Physical address of a page by its number among those that were free at first.
    pub(crate) fn frame(&self, number: u64) -> u64 {
        self.header.free_memory.start + number * PAGE_SIZE
    }

    /// The number of such a page.
    pub(crate) fn frame_number(&self, physical: u64) -> u64 {
        physical.wrapping_sub(self.header.free_memory.start) / PAGE_SIZE
    }

    /// A free page, zeroed; its physical address.
    pub(crate) fn take_frame(&self) -> Result<u64, Error> {
        let physical = match self.state.frames.take() {
            Some(number) => self.frame(number as u64),
            None => self.take_returned().ok_or(Error::Exhausted)?,
        };
        zero(self.words(physical, PAGE_SIZE));
        Ok(physical)
    }

    /// Forgets the translations of all addresses.
    pub(crate) fn settle(&self) -> Settled {
        Settled::by_fence(self.fence)
    }

    /// Gives a page back that [`Manager::take_frame`] gave.
    pub(crate) fn give_frame(&self, physical: u64, _: Settled) {
        if physical < self.header.free_memory.start {
            return self.give_returned(physical);
        }
        self.state.frames.give(self.frame_number(physical) as usize);
    }

    /// A page of the image whose instance is gone.
    #[cold]
    fn take_returned(&self) -> Option<u64> {
        self.state.returned.take(|physical| self.words(physical, 8).first())
    }

    /// Such a page comes back.
    #[cold]
    fn give_returned(&self, physical: u64) {
        if let Some(word) = self.words(physical, 8).first() {
            self.state.returned.give(physical, word);
        }
    }

    pub(crate) fn words(&self, physical: u64, size: u64) -> &'a [AtomicI64] {
        let from = physical.wrapping_sub(self.memory_physical) / 8;
        let range = from as usize..(from.wrapping_add(size / 8)) as usize;
        self.memory.get(range).unwrap_or(&[])
    }

    /// Charges pages to an instance's quota.
    pub(crate) fn charge(&self, instance: InstanceId, pages: u64) -> Result<(), Error> {
        let pages =
            u32::try_from(pages).ok().filter(|pages| *pages > 0).ok_or(Error::BadArgument)?;
        if u64::from(pages) * PAGE_SIZE > REGION_SIZE {
            return Err(Error::Exhausted);
        }
        self.account(instance)?.charge(pages)
    }

    /// Gives pages of an instance's quota back.
    pub(crate) fn refund(&self, instance: InstanceId, pages: u64) {
        if let Ok(account) = self.account(instance) {
            account.refund(pages as u32);
        }
    }

    /// Maps zeroed pages into an instance's region; their address.
    pub fn allocate(&self, instance: InstanceId, pages: u64) -> Result<u64, Error> {
        self.charge(instance, pages)?;
        let address =
            self.reserve(instance, pages).inspect_err(|_| self.refund(instance, pages))?;
        if let Err(error) = self.map_fresh(instance, address, pages) {
            self.refund(instance, pages);
            return Err(error);
        }
        self.settle();
        Ok(address)
    }

    /// The first range of empty entries that is long enough, claimed. It lies where the layout made page
    /// tables, in a row, because windows reach no others.
    pub(crate) fn reserve(&self, instance: InstanceId, pages: u64) -> Result<u64, Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        let region = record.start_address();
        let end = region + record.entries_span();
        let mut start = region + self.base(instance)?;
        instant::passes();
        'search: while start + pages * PAGE_SIZE <= end {
            for page in 0..pages {
                let address = start + page * PAGE_SIZE;
                match self.tables.grow(root, address) {
                    Ok(entry) if tables::reserve(entry) => continue,
                    Ok(_) => {
                        self.clear(instance, start, page);
                        start = address + PAGE_SIZE;
                        continue 'search;
                    }
                    Err(error) => {
                        self.clear(instance, start, page);
                        return Err(error);
                    }
                }
            }
            // Content has come beside its own meanwhile, which claims first and looks then, as this does: what is allocated lies behind both.
            fence(SeqCst);
            let base = region + self.base(instance)?;
            if start >= base {
                return Ok(start);
            }
            self.clear(instance, start, pages);
            start = base;
        }
        Err(Error::Exhausted)
    }

    /// Maps new pages into claimed entries; on failure the entries are empty again. No page can be
    /// reached before all are there: another thread of the instance could pass it on meanwhile, and it
    /// could not go back.
    pub(crate) fn map_fresh(
        &self,
        instance: InstanceId,
        address: u64,
        pages: u64,
    ) -> Result<(), Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        // The kernel's half is everyone's: user mode must not reach what is there.
        let rights = OWN | READ | WRITE | if record.in_kernel() == 0 { USER } else { GLOBAL };
        let entries =
            || (0..pages).filter_map(|page| self.tables.find(root, address + page * PAGE_SIZE));
        for entry in entries() {
            match self.take_frame() {
                Ok(physical) => tables::prepare(entry, physical, rights),
                Err(error) => {
                    entries().map(tables::page).filter(|page| *page != 0).for_each(|physical| {
                        self.give_frame(physical, Settled::never_reached());
                    });
                    self.clear(instance, address, pages);
                    return Err(error);
                }
            }
        }
        entries().for_each(tables::restore);
        Ok(())
    }

    /// Empties entries that were claimed.
    pub(crate) fn clear(&self, instance: InstanceId, address: u64, pages: u64) {
        let Ok(root) = self.root(instance) else { return };
        for page in 0..pages {
            self.tables.find(root, address + page * PAGE_SIZE).map(tables::unmap);
        }
    }

    /// The instance dies: a thread that enters it faults.
    pub fn kill(&self, instance: InstanceId) -> Result<(), Error> {
        tables::set_reachable(self.reach(instance)?, false);
        self.settle();
        Ok(())
    }

    /// It did not die after all.
    pub fn bring_back(&self, instance: InstanceId) -> Result<(), Error> {
        tables::set_reachable(self.reach(instance)?, true);
        self.settle();
        Ok(())
    }

    /// Copies words of an instance's memory, all in one page; of a dead one's too.
    pub fn peek(
        &self,
        instance: InstanceId,
        address: u64,
        words: &mut [[u8; 8]],
    ) -> Result<(), Error> {
        let record = self.record(instance)?;
        let (offset, size) = (address % PAGE_SIZE, words.len() as u64 * 8);
        let is_its_own = (address ^ record.start_address()) < REGION_SIZE;
        if !is_its_own || !offset.is_multiple_of(8) || offset + size > PAGE_SIZE {
            return Err(Error::BadArgument);
        }
        let entry = self.tables.find(self.root_of(record)?, address);
        let page = entry.and_then(tables::mapped).ok_or(Error::NotFound)?;
        // A device's registers, where a look can change something, lie in no memory.
        let source = self.words(page + offset, size);
        if source.is_empty() {
            return Err(Error::NotFound);
        }
        for (word, source) in words.iter_mut().zip(source) {
            *word = source.load(Relaxed).to_le_bytes();
        }
        Ok(())
    }

    /// Free pages, those for page tables among them, and all pages.
    pub fn usage(&self) -> (u64, u64) {
        let (frames, tables) = (&self.state.frames, &self.state.tables);
        let free = frames.available() + tables.available() + self.state.returned.available();
        (free as u64, (frames.count() + tables.count()) as u64)
    }

    /// Pages that an instance has, and its quota.
    pub fn usage_of(&self, instance: InstanceId) -> Result<(u64, u64), Error> {
        let account = self.account(instance)?;
        let laid_out = self.record(instance)?.memory_used() / PAGE_SIZE;
        let beside = |pages: u32| laid_out + u64::from(pages);
        Ok((beside(account.used()), beside(account.said().limit)))
    }
}
