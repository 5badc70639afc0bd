//! A copy of an instance that runs: in a private address space, in which the addresses of its parent's region lead to pages of its own.
//!
//! Its page tables are those of its own number. The entries that lead to them move to where those of its parent's region are, so that
//! whoever goes by the record (`start_address`, `entries`, `space`) finds in it what is there, as in any other.

use super::name;
use super::record::write_activation;
use crate::live::Entry;
use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables::{self, EXECUTE, OWN, READ, Root, USER, VALID, WRITE};
use cairn_abi::address::*;
use cairn_abi::fork::Quotas;
use cairn_abi::loadable::{Slot, descriptor};
use cairn_abi::log::LEVEL;
use cairn_abi::page_table::target;
use cairn_abi::record::*;
use cairn_abi::startup::Startup;
use cairn_abi::{Error, InstanceId, RegionId};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

/// An instance and the copy that is made of it.
struct Pair {
    origin: Instance,
    from: Root,
    copy: Instance,
    to: Root,
    slot: Slot,
}

impl Manager<'_> {
    /// Makes a copy of `parent`, its child, called `text`: its first thread begins at `begins`, on the copy of its parent's stack, from
    /// `stack` down. What the parent has of its own memory is copied, but stacks on which it serves calls are new. Devices,
    /// sections, what it has lent and what is in windows the copy has not. The number is its.
    ///
    /// `NotAllowed`: the parent may have no children; `NotSupported`: it is not alone in a domain of its own, or not in pages;
    /// `BadArgument`: the addresses are not of its region, or the stack is one for calls; `Exhausted`, `TooLarge`, `Busy`: as of
    /// [`make`](Manager::make).
    pub fn fork(
        &self,
        parent: InstanceId,
        text: &str,
        (begins, stack): (u64, u64),
        quotas: Quotas,
    ) -> Result<InstanceId, Error> {
        let name = name(text)?;
        let of_parent = self.record(parent)?;
        let origin = of_parent.read();
        if origin.children == 0 {
            return Err(Error::NotAllowed);
        }
        if origin.in_kernel != 0 || origin.run_to_completion != 0 || !of_parent.is_alone() {
            return Err(Error::NotSupported);
        }
        let is_own = |address: u64| (address ^ origin.start_address) < REGION_SIZE;
        let in_calls = |segment: Entry<Segment>| {
            let addresses = segment.address()..=segment.address() + segment.size();
            segment.content() == CONTENT_CLIENT_STACK && addresses.contains(&stack)
        };
        let is_stack = is_own(stack) && stack.is_multiple_of(16);
        if !is_own(begins) || !is_stack || self.segments_of(of_parent).any(in_calls) {
            return Err(Error::BadArgument);
        }
        let mut pair = self.find_copy_place(&origin)?;
        let copy = self.number_of(&pair);
        let number = self.state.numbers.get(copy)?;
        let children = u32::from(quotas.children);
        let paid = (1 + children, quotas.pages.into());
        if let Err(error) = self.enter(copy, &mut pair.copy, (name, of_parent), paid) {
            number.set(Stage::Unused);
            return Err(error);
        }
        number.pages.store(0, Relaxed);
        (pair.copy.parent, pair.copy.children) = (parent, children);
        pair.copy.memory = u64::from(quotas.pages) * PAGE_SIZE;
        pair.copy.recovery_priority = origin.recovery_priority;
        // So that it can be taken back.
        self.place(copy)?.write(&pair.copy);
        let account = self.account(parent)?;
        let point = (begins, stack);
        let made = self.alone_in_sections(parent, || {
            account.while_copied(|| self.make_copy(copy, &mut pair, point, quotas))
        });
        match made {
            Ok(()) => {
                number.set(Stage::Whole);
                Ok(copy)
            }
            Err(error) => {
                self.take_back(copy)?;
                Err(error)
            }
        }
    }

    fn number_of(&self, pair: &Pair) -> InstanceId {
        // Nothing is loadable whose region has another number.
        InstanceId(pair.copy.region.0)
    }

    /// A loadable number that nobody has, with places that are enough.
    fn find_copy_place(&self, origin: &Instance) -> Result<Pair, Error> {
        let from = self.tables.root(origin.space).ok_or(Error::NotFound)?;
        let segments = self.places(origin.number)?.segments.count;
        let loadable = self.header.loadable;
        self.take_number(loadable.start..loadable.end, |number| {
            let (copy, slot) = (self.place(number)?.read(), self.places(number)?);
            if copy.number != InstanceId(0) || copy.region != RegionId(number.0) {
                return Err(Error::Exhausted);
            }
            let to = self.tables.root(copy.space).ok_or(Error::NotFound)?;
            if segments > slot.segments.count || !self.fits(origin, from, &copy)? {
                return Err(Error::TooLarge);
            }
            Ok(Pair { origin: *origin, from, copy, to, slot })
        })
    }

    /// Whether all that an instance has of its own is as far in its region as a copy has page tables.
    fn fits(&self, origin: &Instance, from: Root, copy: &Instance) -> Result<bool, Error> {
        let end = self.end_of(origin, from)?;
        Ok(end <= copy.entries_span)
    }

    /// Behind the last page that an instance has of its own, as an offset in its region.
    fn end_of(&self, origin: &Instance, from: Root) -> Result<u64, Error> {
        let laid_out = self.base(origin.number)?;
        let end = origin.entries_span.min(DEVICES_OFFSET);
        let more = (laid_out..end).step_by(PAGE_SIZE as usize);
        let is_own = |offset: &u64| {
            let entry = self.tables.find(from, origin.start_address + offset);
            entry.is_some_and(|entry| entry.load(Relaxed) as u64 & OWN != 0)
        };
        Ok(more.filter(is_own).last().map_or(laid_out, |offset| offset + PAGE_SIZE))
    }

    /// Everything but the number.
    fn make_copy(
        &self,
        number: InstanceId,
        pair: &mut Pair,
        (begins, stack): (u64, u64),
        quotas: Quotas,
    ) -> Result<(), Error> {
        let (origin, place) = (pair.origin, self.place(number)?);
        self.tables.move_region(pair.to, pair.copy.start_address, origin.start_address)?;
        (pair.copy.start_address, pair.copy.region) = (origin.start_address, origin.region);
        place.write(&pair.copy);
        self.copy_activations(number, pair);
        self.copy_segments(number, pair)?;
        let laid_out = self.state.numbers.get(number)?.pages.load(Relaxed);
        pair.copy = Instance {
            number,
            float: if origin.has_float() { origin.float } else { FLOAT_OFF },
            priority: origin.priority,
            restart: RESTART_NEVER,
            first_thread: u32::MAX,
            threads: quotas.threads.into(),
            semaphores: quotas.semaphores.into(),
            locks: quotas.locks.into(),
            per_client: origin.per_client,
            stack_group: u32::MAX,
            first_export: pair.slot.exports.first,
            leader: number,
            memory_used: u64::from(laid_out + 1) * PAGE_SIZE,
            main: begins,
            stub: origin.stub,
            package: origin.package,
            package_hash: origin.package_hash,
            stack,
            ..pair.copy
        };
        place.write(&pair.copy);
        let allocated = self.copy_allocated(number, pair)?;
        self.copy_startup(number, pair, quotas)?;
        self.settle();
        self.add_domain(number)?;
        if allocated > 0 {
            self.charge(number, allocated)?;
        }
        tables::set_reachable(self.reach(number)?, true);
        self.settle();
        Ok(())
    }

    /// The stacks on which calls are served, as many as both have places for, and that of the first thread before them.
    fn copy_activations(&self, number: InstanceId, pair: &Pair) {
        for (origin, activation) in self.activations_of(pair) {
            let windows = pair.copy.entries + (origin.windows() - pair.origin.entries);
            write_activation(activation, number, windows);
        }
    }

    /// The activations of an instance, each with that of its copy.
    fn activations_of(
        &self,
        pair: &Pair,
    ) -> impl Iterator<Item = (Entry<'_, Activation>, Entry<'_, Activation>)> {
        let parent = pair.origin.number;
        let places = self.places(parent).map(|slot| slot.activations).unwrap_or_default();
        let own = self.record.activations.part(places).filter(move |one| one.instance() == parent);
        own.zip(self.record.activations.part(pair.slot.activations))
    }

    /// The image, the heap and the stacks.
    fn copy_segments(&self, number: InstanceId, pair: &Pair) -> Result<(), Error> {
        let own = self.record(pair.origin.number)?;
        let mut content = self.record.segments.part(pair.slot.segments);
        let mut stacks = self.record.segments.part(pair.slot.stacks);
        for segment in self.segments_of(own).map(Entry::read) {
            let (first, end) = (segment.address, segment.address + segment.size);
            if segment.content == CONTENT_CLIENT_GROWTH {
                // A copy's stacks for calls are new, and as large as they are.
                continue;
            }
            if segment.content == CONTENT_DMA {
                // Of devices it has none.
                continue;
            }
            let is_for_calls = segment.content == CONTENT_CLIENT_STACK;
            let stack = self.activations_of(pair).find(|(activation, _)| {
                let [(_, top), ..] = descriptor(&pair.origin, &activation.read());
                top == end
            });
            if is_for_calls && stack.is_none() {
                // The copy serves fewer at a time.
                continue;
            }
            for address in (first..end).step_by(PAGE_SIZE as usize) {
                match segment.content {
                    // As far as it has grown it is as what is allocated.
                    CONTENT_GROWTH => break,
                    _ => self.copy_page(number, pair, address, !is_for_calls)?,
                }
            }
            if let Some((_, activation)) = stack {
                self.map_alias(pair.to, end, activation)?;
            }
            let place = if is_for_calls { stacks.next() } else { content.next() };
            let place = place.ok_or(Error::TooLarge)?;
            place.write(&Segment { instance: number, physical: 0, initial: 0, ..segment });
        }
        Ok(())
    }

    /// Copies a page, or makes one of zeros in its place; nothing where there is none.
    fn copy_page(
        &self,
        number: InstanceId,
        pair: &Pair,
        address: u64,
        has_content: bool,
    ) -> Result<(), Error> {
        let source = self.tables.find(pair.from, address);
        if source.is_none() {
            // A large page.
            return Err(Error::NotSupported);
        }
        let word = source.map_or(0, |source| source.load(Relaxed) as u64);
        if word & VALID == 0 {
            return Ok(());
        }
        let entry = self.tables.find(pair.to, address).ok_or(Error::TooLarge)?;
        // What is of the shelf nobody writes, and nobody gives back.
        if self.is_of_shelf(target(word)) {
            entry.store(word as i64, Relaxed);
            return Ok(());
        }
        self.add_page(number, pair.copy.memory)?;
        let page = self.take_frame()?;
        if has_content && let Some(source) = source.and_then(tables::mapped) {
            crate::death::copy(self.words(source, PAGE_SIZE), self.words(page, PAGE_SIZE));
        }
        tables::map_over(entry, page, OWN | USER | READ | word & (WRITE | EXECUTE));
        Ok(())
    }

    /// Copies the pages that the parent has allocated, and has grown by; how many.
    fn copy_allocated(&self, number: InstanceId, pair: &Pair) -> Result<u64, Error> {
        let mut count = 0;
        let start = pair.origin.start_address;
        let allocated = self.base(pair.origin.number)?..self.end_of(&pair.origin, pair.from)?;
        let allocated = start + allocated.start..start + allocated.end;
        let segments = self.segments_of(self.record(pair.origin.number)?);
        let growth = segments.filter(|segment| segment.content() == CONTENT_GROWTH);
        let grown = growth.map(|one| one.address()..one.address() + one.size());
        for address in core::iter::once(allocated)
            .chain(grown)
            .flat_map(|range| range.step_by(PAGE_SIZE as usize))
        {
            let source = self.tables.find(pair.from, address);
            let own = OWN | VALID;
            if source.is_some_and(|source| source.load(Relaxed) as u64 & own == own) {
                self.copy_page(number, pair, address, true)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// The startup page, which says who the copy is, the page by which it says that it serves, and its log.
    fn copy_startup(&self, number: InstanceId, pair: &Pair, quotas: Quotas) -> Result<(), Error> {
        let find = |root, offset| self.tables.find(root, pair.origin.start_address + offset);
        let source = find(pair.from, STARTUP_OFFSET).and_then(tables::mapped);
        let source = self.words(source.ok_or(Error::NotSupported)?, PAGE_SIZE);
        self.add_page(number, pair.copy.memory)?;
        let page = self.take_frame()?;
        let words = self.words(page, PAGE_SIZE);
        crate::death::copy(source, words);
        let (instance, log_words) = (offset_of!(Startup, instance), offset_of!(Startup, log_words));
        let load = |offset: usize| source.get(offset / 8).map_or(0, |word| word.load(Relaxed));
        let logs = load(log_words) != 0 && self.header.logs != 0;
        let base = u64::from(self.said(self.place(number)?).base);
        let rest = load(instance) as u64 & !u64::from(u32::MAX);
        let name = zerocopy::transmute!(pair.copy.name);
        let name: [u64; cairn_abi::descriptor::NAME_SIZE / 8] = name;
        let names = name
            .iter()
            .enumerate()
            .map(|(place, word)| (offset_of!(Startup, name) + place * 8, *word));
        let fields = [
            (instance, rest | u64::from(pair.copy.domain.0) << 16 | u64::from(number.0)),
            (offset_of!(Startup, generation), u64::MAX),
            // It serves fewer calls at a time, and so what it allocates lies before.
            (offset_of!(Startup, run_time_memory), pair.origin.start_address + base),
            // Of devices, sections and processes it has none.
            (offset_of!(Startup, device_count), 0),
            (offset_of!(Startup, processes.pool.spaces), 0),
            (offset_of!(Startup, dma_size), 0),
            (offset_of!(Startup, thread_limit), quotas.threads.into()),
            (log_words, if logs { pair.copy.log_size / 8 } else { 0 }),
        ];
        for (offset, word) in fields.into_iter().chain(names) {
            if let Some(place) = words.get(offset / 8) {
                place.store(word as i64, Relaxed);
            }
        }
        let startup = find(pair.to, STARTUP_OFFSET).ok_or(Error::TooLarge)?;
        tables::map_over(startup, page, USER | READ);
        if let Some(ready) = find(pair.from, READY_OFFSET)
            && ready.load(Relaxed) != 0
        {
            find(pair.to, READY_OFFSET)
                .ok_or(Error::TooLarge)?
                .store(startup.load(Relaxed), Relaxed);
        }
        let level = self.words(self.header.logs + pair.origin.log, PAGE_SIZE).get(LEVEL);
        let level = level.map_or(0, |level| level.load(Relaxed) as u8);
        self.map_log(pair.to, &pair.copy, logs.then_some(level))
    }

    /// The page tables of a number are those of its own region again.
    pub(super) fn end_private(
        &self,
        number: InstanceId,
        place: Entry<Instance>,
    ) -> Result<(), Error> {
        let (own, shown) = (RegionId(number.0), place.start_address());
        let is_loadable =
            (self.header.loadable.start..self.header.loadable.end).contains(&number.0.into());
        if is_loadable && shown != region(own) {
            self.tables.move_region(self.root_of(place)?, shown, region(own))?;
            place.set(offset_of!(Instance, start_address), region(own));
            place.set(offset_of!(Instance, region), own);
        }
        Ok(())
    }
}
