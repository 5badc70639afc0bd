//! Successors: content that takes the place of an instance's, while that is dead and nothing of it is in use (live replacement).
//!
//! A successor is made as an instance is, under a number of its own, in the page table of that number, which nobody ever enters. But it
//! is linked for the region of the instance whose successor it is. [`Manager::exchange`] changes the entries of both page tables, and what
//! the record says of both; so the instance keeps its number, region, portal table, quotas and clients' stacks, and the successor's
//! number has its former content, until that goes too or comes back by the same exchange.

use super::Linked;
use crate::live::Entry;
use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables;
use cairn_abi::address::*;
use cairn_abi::descriptor::{NAME_SIZE, Name, is_name};
use cairn_abi::loadable::Slot;
use cairn_abi::package::NONE;
use cairn_abi::page_table::index;
use cairn_abi::record::{
    CONTENT_CLIENT_GROWTH, CONTENT_CLIENT_STACK, CONTENT_DMA, CONTENT_GROWTH, FLOAT_OFF, Instance,
    Segment,
};
use cairn_abi::startup::Startup;
use cairn_abi::{Error, InstanceId};
use cairn_interfaces::SuccessorError;
use cairn_loader::package::Head;
use cairn_loader::placement::Placement;
use core::mem::offset_of;
use core::ops::Range;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Behind the name of an instance: that of its successor, until it is exchanged. Nobody can load one of such a name.
const MARK: u8 = b'+';

/// Words of a startup page that say what an instance has, and not what its content is: they are the same for its successor.
const KEPT: [Range<usize>; 4] = [
    offset_of!(Startup, name)..offset_of!(Startup, heap),
    offset_of!(Startup, generation)..offset_of!(Startup, run_time_memory),
    offset_of!(Startup, run_rate)..offset_of!(Startup, portal_manager),
    offset_of!(Startup, thread_limit)..offset_of!(Startup, heap_limit),
];
/// The word with the numbers of the instance, which are kept, and above them the imports that its content leaves out.
pub(super) const NUMBERS: usize = offset_of!(Startup, instance);
const OWN_BITS: u64 = 0xffff << 48;
const _: () = assert!(offset_of!(Startup, imports_left_out) == NUMBERS + 6);

/// The entry of a page.
pub(super) type Word<'a> = &'a AtomicI64;
/// That of a page in the tables of two instances, at the same offset of their regions.
type Pair<'a> = (Word<'a>, Word<'a>);

impl<'a> Manager<'a> {
    /// Makes the memory of a successor of an instance, at the expense of `parent`, as [`Manager::make`] does; its number, and how far behind the
    /// beginning of the instance's region its image begins.
    ///
    /// `in_place`: who asks for one that is to be [beside](Manager::join) the other.
    pub fn make_successor(
        &self,
        parent: InstanceId,
        of: InstanceId,
        head: &Head,
        in_place: Option<InstanceId>,
    ) -> Result<(InstanceId, u64), SuccessorError> {
        let of_parent = self.parent(parent)?;
        let record = self.record(of)?;
        self.check_exchangeable(record, head)?;
        if (in_place.is_some() || self.gives_way(record)) && !record.is_alone() {
            return Err(SuccessorError::NotAlone);
        }
        self.check_beside_fellows(record, head)?;
        if self.idles(record) && !can_idle(head) {
            return Err(SuccessorError::Idle);
        }
        // What it has of its heap another content does not know. Threads of its own would be in its former content when that goes; that those
        // without which the system ends have none is known, and who asks for its own successor sees to its own.
        let has_threads = record.essential() == 0 && record.read().threads != 0;
        if in_place.is_some() && head.numbers().heap != 0 {
            return Err(SuccessorError::Heap);
        }
        if has_threads && in_place.is_some_and(|by| by != of) {
            return Err(SuccessorError::Threads);
        }
        let in_place = in_place.is_some();
        let name = name_of_successor(&record.name());
        let placement = self.place_for(record, head, in_place);
        // Behind is what a pager allocated, which stays.
        let room = if self.is_pager(of) { self.base(of)? } else { record.entries_span() };
        if placement.end() > room {
            return Err(SuccessorError::Region);
        }
        let linked = Linked { of, region: record.start_address() };
        let at = placement.image().start;
        let number = self.make_linked(of_parent, name, head, Some((placement, linked)))?;
        let goes_on = in_place || self.gives_way(record);
        match self.pair_exports(of, number, goes_on) {
            Ok(()) => Ok((number, at)),
            Err(error) => {
                self.state.numbers.get(number)?.take(Stage::Made)?;
                self.take_back(number)?;
                Err(error)
            }
        }
    }

    /// Whether the content of an instance can be exchanged for such a package's.
    fn check_exchangeable(
        &self,
        record: Entry<Instance>,
        head: &Head,
    ) -> Result<(), SuccessorError> {
        let number = record.number();
        // What portals to it do with the floating-point unit stays as it is.
        let has_float = record.read().has_float() || u16::from(head.numbers().float) == FLOAT_OFF;
        // A range with a pager lies where its content says.
        let is_paged = head.numbers().paged != 0
            || self.loaded_range(number).is_some_and(|range| range.client() == number);
        // What a pager has is its clients', so its next life has to know it.
        let mut exports = self.exports_of(number);
        let knows = exports.any(|export| is_name(&export.interface, b"Successor"));
        let why = match () {
            () if record.is_away() != 0 => SuccessorError::Away,
            () if record.in_kernel() != 0 => SuccessorError::InKernel,
            () if record.region().0 != number.0 => SuccessorError::Forked,
            () if is_paged => SuccessorError::Paged,
            () if !has_float => SuccessorError::FloatingPoint,
            () if self.is_pager(number) && !knows => SuccessorError::PagerWithoutState,
            () => return Ok(()),
        };
        Err(why)
    }

    /// Where a successor lies: where its predecessor was, if all that stays is behind it, or else behind all that there is.
    fn place_for(&self, record: Entry<Instance>, head: &Head, in_place: bool) -> Placement {
        let (wanted, region) = (head.wanted(0), record.region());
        let start = record.start_address();
        let home = Placement::new(&wanted, region);
        // Both are there for a while.
        let in_place = in_place || self.gives_way(record);
        // Where stacks of clients grow, and what devices reach, too.
        let stays = |one: &Entry<Segment>| {
            matches!(one.content(), CONTENT_CLIENT_STACK | CONTENT_CLIENT_GROWTH | CONTENT_DMA)
        };
        let staying = || self.segments_of(record).filter(move |one| in_place || stays(one));
        // The page below a stack stays unmapped.
        let is_apart = |one: Entry<Segment>| {
            let from = one.address() - start;
            home.end() <= from - PAGE_SIZE || from + one.size() <= home.image().start
        };
        if staying().all(is_apart) {
            return home;
        }
        let ends = staying().map(|one| one.address() + one.size() - start);
        let behind = ends.map(Placement::windows).max().unwrap_or_default();
        let at = behind.next_multiple_of(ACTIVATION_STRIDE) + ACTIVATION_STRIDE;
        Placement::at(&wanted, at, region)
    }

    /// The stacks on which clients of an instance run.
    pub(super) fn client_stacks(
        &self,
        record: Entry<Instance>,
    ) -> impl Iterator<Item = Entry<'a, Segment>> + use<'a> {
        self.segments_of(record).filter(|one| one.content() == CONTENT_CLIENT_STACK)
    }

    /// What its devices reach.
    fn dma(&self, record: Entry<Instance>) -> impl Iterator<Item = Entry<'a, Segment>> + use<'a> {
        self.segments_of(record).filter(|one| one.content() == CONTENT_DMA)
    }

    /// What an instance takes of its quota with the content of its successor; `Exhausted`: more than it has.
    pub(super) fn finish_successor(&self, successor: Entry<Instance>) -> Result<(), Error> {
        let record = self.record(successor.successor_of())?;
        let kept = self.client_stacks(record).chain(self.dma(record));
        let kept: u64 = kept.map(|one| one.size()).sum();
        let allocated = match self.is_pager(record.number()) {
            true => u64::from(self.account(record.number())?.used()) * PAGE_SIZE,
            false => 0,
        };
        let used = kept + successor.memory_used();
        successor.set(offset_of!(Instance, memory_used), used);
        if used + allocated > record.memory() { Err(Error::Exhausted) } else { Ok(()) }
    }

    /// Exchanges the content of an instance that is dead and [released](Manager::release), and of a whole successor of it, or its place and
    /// its other place. `Busy`: it is not.
    pub fn exchange(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error> {
        let number = self.state.numbers.get(successor)?;
        if let Err(error) = number.take(Stage::Made) {
            return match self.is_other_place(instance, successor) {
                true => self.exchange_places(instance),
                false => Err(error),
            };
        }
        let result = self.exchange_with(instance, successor);
        number.set(Stage::Made);
        result
    }

    fn exchange_with(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error> {
        let (ours, theirs) = (self.record(instance)?, self.place(successor)?);
        let is_whole = theirs.successor_of() == instance && theirs.memory_used() != 0;
        // It may have moved since its successor was made.
        let moved = ours.is_away() != 0 || ours.in_kernel() != 0 && ours.run_to_completion() == 0;
        if !is_whole || moved {
            return Err(Error::BadArgument);
        }
        if self.gives_way(ours) {
            return self.exchange_running(ours, theirs);
        }
        if !self.account(instance)?.is_released.load(Relaxed) {
            return Err(Error::Busy);
        }
        let slots = (self.places(instance)?, self.places(successor)?);
        // Before anything is changed: all of it is there.
        self.each_pair((ours, theirs), slots, |_| {})?;
        let startups = (self.startup(ours)?, self.startup(theirs)?);
        self.each_pair((ours, theirs), slots, |(one, other)| tables::exchange(one, other))?;
        keep(startups.0, startups.1);
        // The page by which it says that it serves is its startup page once more.
        let entry = |offset| {
            let root = self.root_of(ours)?;
            self.tables.find(root, ours.start_address() + offset).ok_or(Error::NotFound)
        };
        let (ready, startup) = (entry(READY_OFFSET)?, entry(STARTUP_OFFSET)?);
        if ready.load(Relaxed) != 0 {
            ready.store(startup.load(Relaxed), Relaxed);
        }
        self.exchange_record((ours, theirs), slots);
        self.relink_inside(ours);
        self.account(instance)?.renew(self.said(ours));
        self.settle();
        Ok(())
    }

    /// The page-table entries of all pages that are exchanged.
    fn each_pair(
        &self,
        (ours, theirs): (Entry<Instance>, Entry<Instance>),
        slots: (Slot, Slot),
        mut body: impl FnMut(Pair),
    ) -> Result<(), Error> {
        let offsets = |slot: Slot, owner: Entry<Instance>| {
            let (number, start) = (owner.number(), owner.start_address());
            let segments = self.record.segments.part(slot.segments);
            // Where it grew it has nothing any more.
            let own = segments.filter(move |segment| {
                segment.instance() == number && segment.content() != CONTENT_GROWTH
            });
            own.map(move |one| one.address() - start..one.address() - start + one.size())
        };
        let mut pairs = |range| self.pairs_of((ours, theirs), range, &mut body);
        let first = || offsets(slots.0, ours);
        pairs(STARTUP_OFFSET..STARTUP_OFFSET + PAGE_SIZE)?;
        first().try_for_each(&mut pairs)?;
        // What both have is exchanged once.
        for range in offsets(slots.1, theirs) {
            let mut at = range.start;
            while at < range.end {
                if let Some(both) = first().find(|one| one.contains(&at)) {
                    at = both.end;
                    continue;
                }
                let next = first().map(|one| one.start).filter(|start| *start > at).min();
                let end = next.map_or(range.end, |next| next.min(range.end));
                pairs(at..end)?;
                at = end;
            }
        }
        Ok(())
    }

    /// Those of some pages, by their offsets.
    fn pairs_of(
        &self,
        (ours, theirs): (Entry<Instance>, Entry<Instance>),
        range: Range<u64>,
        body: &mut impl FnMut(Pair),
    ) -> Result<(), Error> {
        let mut at = range.start;
        while at < range.end {
            // As far as one leaf table has them.
            let end = ((at / LEAF_SPAN + 1) * LEAF_SPAN).min(range.end);
            let entries = |owner: Entry<Instance>| {
                let address = owner.start_address() + at;
                let entries = self.tables.leaf(self.root_of(owner)?, address);
                let entries = entries.and_then(|leaf| leaf.get(index(address, 0)..));
                entries
                    .and_then(|entries| entries.get(..((end - at) / PAGE_SIZE) as usize))
                    .ok_or(Error::NotSupported)
            };
            entries(ours)?.iter().zip(entries(theirs)?).for_each(&mut *body);
            at = end;
        }
        Ok(())
    }

    /// What the record says of the content.
    pub(super) fn exchange_record(
        &self,
        (ours, theirs): (Entry<Instance>, Entry<Instance>),
        slots: (Slot, Slot),
    ) {
        let (one, other) = (ours.read(), theirs.read());
        for (place, now) in [(ours, &other), (theirs, &one)] {
            place.set(offset_of!(Instance, main), now.main);
            place.set(offset_of!(Instance, stub), now.stub);
            place.set(offset_of!(Instance, package), now.package);
            place.set(offset_of!(Instance, package_hash), now.package_hash);
            place.set(offset_of!(Instance, stack), now.stack);
            place.set(offset_of!(Instance, memory_used), now.memory_used);
            place.set(offset_of!(Instance, callers_wait), now.callers_wait);
        }
        for (slot, from, to) in [(slots.0, &one, &other), (slots.1, &other, &one)] {
            let segments = self.record.segments.part(slot.segments);
            for segment in segments.filter(|segment| segment.instance() == from.number) {
                let address = segment.address() - from.start_address + to.start_address;
                segment.set(offset_of!(Segment, address), address);
                segment.set(offset_of!(Segment, instance), to.number);
            }
        }
        for (owner, own, new) in [(&one, slots.0, slots.1), (&other, slots.1, slots.0)] {
            if let Some(place) = self.record.slots.get(owner.number.index() - 1) {
                place.write(&Slot { segments: new.segments, ..own });
            }
        }
        self.exchange_exports(one.number, other.number);
    }

    /// Whether an instance has memory that devices reach.
    pub(crate) fn has_dma(&self, record: Entry<Instance>) -> bool {
        let startup = self.startup(record);
        startup.is_ok_and(|startup| word(startup, offset_of!(Startup, dma_size)) != 0)
    }

    /// The words of an instance's startup page.
    pub(crate) fn startup(&self, record: Entry<Instance>) -> Result<&'a [AtomicI64], Error> {
        let at = record.start_address() + STARTUP_OFFSET;
        let entry = self.tables.find(self.root_of(record)?, at).ok_or(Error::NotFound)?;
        match self.words(tables::page(entry), PAGE_SIZE) {
            [] => Err(Error::NotFound),
            words => Ok(words),
        }
    }
}

/// Whether a package is one whose thread may run when no other does: it serves nobody, and calls nobody for whom it could wait.
fn can_idle(head: &Head) -> bool {
    let calls_or_serves = head.imports().next().is_some() || head.exports().next().is_some();
    head.numbers().main != NONE && !calls_or_serves
}

/// The name of an instance, with the mark.
fn name_of_successor(of: &Name) -> Name {
    let mut name = *of;
    let length = of.iter().position(|byte| *byte == 0).unwrap_or(NAME_SIZE).min(NAME_SIZE - 2);
    name[length] = MARK;
    name[length + 1..].fill(0);
    name
}

/// The word at an offset in bytes; 0, if these are fewer.
pub(super) fn word(words: &[AtomicI64], offset: usize) -> u64 {
    words.get(offset / 8).map_or(0, |word| word.load(Relaxed) as u64)
}

/// What the startup page of an instance says of what it has the one that comes in its place says as well.
pub(super) fn keep(former: &[AtomicI64], startup: &[AtomicI64]) {
    let own = word(startup, NUMBERS) & OWN_BITS;
    let numbers = word(former, NUMBERS) & !OWN_BITS | own;
    if let Some(word) = startup.get(NUMBERS / 8) {
        word.store(numbers as i64, Relaxed);
    }
    for range in KEPT {
        let range = range.start / 8..range.end.div_ceil(8);
        if let (Some(from), Some(to)) = (former.get(range.clone()), startup.get(range)) {
            crate::death::copy(from, to);
        }
    }
}
