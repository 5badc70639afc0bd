//! Memory of the instances: what they allocate, and what becomes of it when they die.

use crate::account::Account;
use crate::death::zero;
use crate::frames::Frames;
use crate::sections::Sections;
use crate::settled::Settled;
use crate::tables::{self, GLOBAL, OWN, READ, Root, TablePool, Tables, USER, WRITE};
use cairn_abi::address::{
    DEVICES_OFFSET, PAGE_SIZE, PAGE_TABLES, REGION_SIZE, WINDOW_MAXIMUM, WINDOW_SLOT_STRIDE,
    WINDOW_SLOTS,
};
use cairn_abi::domain::{CLIENT_ROW_WORDS, client_row};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::memory::FREE_PAGES_MAXIMUM;
use cairn_abi::record::{Activation, Header, Instance, Segment};
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{
    AtomicBool, AtomicI64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Words of the bitmap of free pages: 256 MiB at most, more is not used.
pub const FRAME_WORDS: usize = FREE_PAGES_MAXIMUM / 64;
/// Pages whose places are looked up at once in the windows of the client's activations.
const PAGES_AT_ONCE: usize = 64;

#[cfg(test)]
thread_local! {
    /// Activations whose windows this thread has looked at.
    pub(crate) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

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
        }
    }
}

/// The memory manager at work: its state, and what the layout left.
pub struct Manager<'a> {
    /// State.
    pub state: &'a State,
    /// The record's header.
    pub header: &'a Header,
    /// The record's instances, by number from 1.
    pub instances: &'a [Instance],
    /// The record's segments.
    pub segments: &'a [Segment],
    /// The record's activations.
    pub activations: &'a [Activation],
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
        for record in self.instances {
            // The host tool numbers them from 1, and no more than there are accounts.
            if let Ok(account) = self.state.account(record.number) {
                account.describe(self.said(record));
            }
        }
    }

    pub(crate) fn segments_of(
        &self,
        record: &Instance,
    ) -> impl Iterator<Item = &'a Segment> + use<'a> {
        let number = record.number;
        self.segments.iter().filter(move |segment| segment.instance == number)
    }

    /// The record of an instance that there is: the only way from its number to its page table and its region.
    pub fn record(&self, instance: InstanceId) -> Result<&'a Instance, Error> {
        let index = instance.index().checked_sub(1).ok_or(Error::NotFound)?;
        self.account(instance)?;
        self.instances.get(index).ok_or(Error::NotFound)
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

    pub(crate) fn root_of(&self, record: &Instance) -> Result<Root, Error> {
        self.tables.root(record.space).ok_or(Error::NotFound)
    }

    /// The page-table entries that lead to all that an instance can execute.
    pub(crate) fn reach(&self, instance: InstanceId) -> Result<&'a [AtomicI64], Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        let entries = match record.in_kernel {
            0 => self.tables.to_user_mode(root),
            _ => self.tables.to_region(root, record.start_address),
        };
        entries.ok_or(Error::NotFound)
    }

    /// Does something that no other thread of the instance's domain may do at the same time: it changes the domain's page table.
    pub(crate) fn alone_in_sections<T>(
        &self,
        instance: InstanceId,
        body: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.account(instance)?;
        let taken = &self.state.account(self.record(instance)?.leader)?.in_sections;
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
        let number = self.state.frames.take().ok_or(Error::Exhausted)?;
        let physical = self.frame(number as u64);
        zero(self.words(physical, PAGE_SIZE));
        Ok(physical)
    }

    /// Forgets the translations of all addresses.
    pub(crate) fn settle(&self) -> Settled {
        Settled::by_fence(self.fence)
    }

    /// Gives a page back that [`Manager::take_frame`] gave.
    pub(crate) fn give_frame(&self, physical: u64, _: Settled) {
        self.state.frames.give(self.frame_number(physical) as usize);
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
    fn reserve(&self, instance: InstanceId, pages: u64) -> Result<u64, Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        let region = record.start_address;
        let end = region + record.entries_span;
        let mut start = region + self.base(instance)?;
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
            return Ok(start);
        }
        Err(Error::Exhausted)
    }

    /// Maps new pages into claimed entries; on failure the entries are empty again. No page can be
    /// reached before all are there: another thread of the instance could pass it on meanwhile, and it
    /// could not go back.
    fn map_fresh(&self, instance: InstanceId, address: u64, pages: u64) -> Result<(), Error> {
        let record = self.record(instance)?;
        let root = self.root_of(record)?;
        // The kernel's half is everyone's: user mode must not reach what is there.
        let rights = OWN | READ | WRITE | if record.in_kernel == 0 { USER } else { GLOBAL };
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
    fn clear(&self, instance: InstanceId, address: u64, pages: u64) {
        let Ok(root) = self.root(instance) else { return };
        for page in 0..pages {
            self.tables.find(root, address + page * PAGE_SIZE).map(tables::unmap);
        }
    }

    /// Takes pages back that [`Manager::allocate`] gave. `Busy`: one of them is in a window of a call.
    pub fn free(&self, instance: InstanceId, address: u64, pages: u64) -> Result<(), Error> {
        let root = self.root(instance)?;
        let start = self.record(instance)?.start_address;
        let base = start + self.base(instance)?;
        let limit = start + DEVICES_OFFSET;
        let inside = address.is_multiple_of(PAGE_SIZE)
            && (base..limit).contains(&address)
            && pages > 0
            && pages <= (limit - address) / PAGE_SIZE;
        if !inside {
            return Err(Error::BadArgument);
        }
        let entry = |page: u64| self.tables.find(root, address + page * PAGE_SIZE);
        let restore = |pages: u64| {
            (0..pages).filter_map(entry).for_each(tables::restore);
            self.settle();
        };
        for page in 0..pages {
            if !entry(page).is_some_and(tables::withdraw) {
                restore(page);
                return Err(Error::NotFound);
            }
        }
        let settled = self.settle();
        // Withdrawn pages cannot come into a window any more; those that are there already remain.
        let mut in_window = false;
        for from in (0..pages).step_by(PAGES_AT_ONCE) {
            let mut places = [0; PAGES_AT_ONCE];
            let count = PAGES_AT_ONCE.min((pages - from) as usize);
            let places = &mut places[..count];
            let batch = (from..pages).filter_map(entry).map(tables::page);
            places.iter_mut().zip(batch).for_each(|(place, physical)| *place = physical);
            // So that a page in a window, which may be any instance's, is compared with few.
            places.sort_unstable();
            in_window |=
                self.any_window(instance, |physical| places.binary_search(&physical).is_ok());
        }
        if in_window {
            restore(pages);
            return Err(Error::Busy);
        }
        for entry in (0..pages).filter_map(entry) {
            let physical = tables::page(entry);
            entry.store(0, Relaxed);
            self.give_frame(physical, settled);
        }
        self.refund(instance, pages);
        Ok(())
    }

    /// Whether a window that an instance's threads opened maps a page of which `which` holds. They take activations of the
    /// instance's stack queues only, so no others are looked at.
    fn any_window(&self, instance: InstanceId, which: impl Fn(u64) -> bool) -> bool {
        let row = self
            .words(self.header.clients + client_row(instance.into()), CLIENT_ROW_WORDS as u64 * 8);
        row.is_empty()
            || row.iter().zip(self.activations.chunks(64)).any(|(word, activations)| {
                let mut own = word.load(Relaxed) as u64;
                while own != 0 {
                    let activation = activations.get(own.trailing_zeros() as usize);
                    if activation.is_some_and(|activation| self.maps_any(activation, &which)) {
                        return true;
                    }
                    own &= own - 1;
                }
                false
            })
    }

    /// Whether a window slot of an activation maps such a page.
    fn maps_any(&self, activation: &Activation, which: impl Fn(u64) -> bool) -> bool {
        #[cfg(test)]
        LOOKS.with(|looks| looks.set(looks.get() + 1));
        const PAGES: usize = (WINDOW_MAXIMUM / PAGE_SIZE) as usize;
        const STRIDE: usize = (WINDOW_SLOT_STRIDE / PAGE_SIZE) as usize;
        let first = (activation.windows.wrapping_sub(PAGE_TABLES) / 8) as usize;
        let slots = first..first.saturating_add(WINDOW_SLOTS * STRIDE);
        let Some(slots) = self.tables.words.get(slots) else { return true };
        slots.chunks(STRIDE).any(|slot| {
            slot.iter().take(PAGES).any(|entry| tables::mapped(entry).is_some_and(&which))
        })
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
        let is_its_own = (address ^ record.start_address) < REGION_SIZE;
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
        let free = frames.available() + tables.available();
        (free as u64, (frames.count() + tables.count()) as u64)
    }

    /// Pages that an instance has, and its quota.
    pub fn usage_of(&self, instance: InstanceId) -> Result<(u64, u64), Error> {
        let account = self.account(instance)?;
        let laid_out = self.record(instance)?.memory_used / PAGE_SIZE;
        let beside = |pages: u32| laid_out + u64::from(pages);
        Ok((beside(account.used()), beside(account.said().limit)))
    }
}
