//! What is left for components that are loaded while the system runs (`abi/src/loadable.rs`): page tables that lead nowhere yet, aliases of
//! stacks, and places in the record. Without `children` in the description there is nothing.

use super::record::RecordParts;
use super::{Layout, take};
use crate::memory::*;
use cairn_abi::address::*;
use cairn_abi::loadable::*;
use cairn_abi::memory::SECTIONS_AT_RUN_TIME;
use cairn_abi::page_table::ENTRIES;
use cairn_abi::record::{self, Activation, Export, Instance, Method, Segment};
use cairn_abi::{DomainId, RegionId, Space};
use zerocopy::FromZeros;

/// What a number has that no component has yet.
pub(super) struct Loadable {
    number: u16,
    root: Root,
    space: Space,
    /// Kernel address of the page-table entry of its region's first page.
    entries: u64,
}

/// The tables of the record that have places for them.
pub(super) struct Places<'a> {
    pub instances: &'a mut Vec<Instance>,
    pub exports: &'a mut Vec<Export>,
    pub methods: &'a mut Vec<Method>,
    /// Which of both are whose of the description.
    pub served: &'a [(Entries, Entries)],
    pub segments: &'a mut Vec<Segment>,
    pub activations: &'a mut Vec<Activation>,
    pub text: &'a mut Vec<u8>,
}

impl Layout<'_> {
    /// Makes page tables for each loadable number, and those of the aliases of its stacks.
    pub(super) fn place_loadable(&mut self) -> Result<(), String> {
        let first = self.system.instances.len() as u16 + 1;
        let leaves = self.loadable_span().div_ceil(LEAF_SPAN);
        for number in (first..).take(self.system.children() as usize) {
            let root = Root(self.tables.take(1)?);
            let region = region(RegionId(number));
            let entries = self.tables.leaves(&mut self.memory, root, region, leaves)?;
            self.tables.directory(&mut self.memory, root, SECTIONS_AT_RUN_TIME)?;
            for _ in 0..ACTIVATIONS_EACH {
                let alias = stack_alias(take(&mut self.next.activation) as u32);
                self.tables.leaf(&mut self.memory, self.kernel_root, alias)?;
            }
            let asid = if self.asids() { u64::from(number) } else { 0 };
            let space = Space::new(root.0, asid);
            let entries = self.tables.kernel_address(entries);
            self.loadable.push(Loadable { number, root, space, entries });
        }
        Ok(())
    }

    /// So many bytes of the region of a loadable number have leaf page tables: a successor lies at its predecessor's addresses, or behind them.
    fn loadable_span(&self) -> u64 {
        let replaced = self.system.successors().map(|(_, of)| self.placed[**of].entries_span);
        replaced.fold(LEAVES_EACH * LEAF_SPAN, u64::max)
    }

    /// The roots of the loadable numbers.
    pub(super) fn loadable_roots(&self) -> impl Iterator<Item = u64> + '_ {
        self.loadable.iter().map(|loadable| loadable.root.0)
    }

    /// Nobody enters a domain that nobody has.
    pub(super) fn put_loadable_to_sleep(&mut self) {
        for loadable in &self.loadable {
            for entry in (loadable.root.0..).step_by(8).take(ENTRIES / 2) {
                let word = self.memory.load(entry);
                self.memory.store(entry, word & !VALID);
            }
        }
    }

    /// Adds places for loadable numbers to the tables, and says which are whose.
    pub(super) fn add_places(&self, mut places: Places) -> Vec<Slot> {
        if self.loadable.is_empty() {
            return Vec::new();
        }
        places.room_for_content();
        // Each number's follow each other. They are as they were for who has one only.
        places.segments.sort_by_key(|segment| (segment.instance, stays(segment)));
        let mut slots = described(&places);
        places.segments.iter_mut().filter(|one| is_room(one)).for_each(Segment::zero);
        let names = self.system.names().skip(places.instances.len());
        let mut name = places.instances.last().map_or(0, |last| last.names.end);
        for (loadable, names) in self.loadable.iter().zip(names) {
            let text = add(places.text, TEXT_EACH, || 0);
            let slot = Slot {
                exports: add(places.exports, EXPORTS_EACH, Export::new_zeroed),
                methods: add(places.methods, METHODS_EACH, Method::new_zeroed),
                segments: add(places.segments, SEGMENTS_EACH, Segment::new_zeroed),
                stacks: add(places.segments, CLIENT_STACKS_EACH, Segment::new_zeroed),
                activations: places.activations(ACTIVATIONS_EACH),
                text,
            };
            let log = self.logs.each[usize::from(loadable.number) - 1];
            places.instances.push(Instance {
                domain: DomainId(loadable.number),
                region: RegionId(loadable.number),
                start_address: region(RegionId(loadable.number)),
                space: loadable.space,
                table: self.connected.tables().portal_table(DomainId(loadable.number)),
                entries: loadable.entries,
                entries_span: self.loadable_span(),
                first_thread: u32::MAX,
                stack_group: u32::MAX,
                first_export: slot.exports.first,
                log: log.from,
                log_size: log.size,
                sections: SECTIONS_EACH,
                names: record::Range { start: name, end: name + names },
                page_tables: self.loadable_span().div_ceil(LEAF_SPAN) + 3,
                ..Instance::new_zeroed()
            });
            name += names;
            slots.push(slot);
        }
        slots
    }
}

impl Places<'_> {
    /// An instance of the description has as many places for its content as a number that is loadable: with a successor it exchanges them.
    fn room_for_content(&mut self) {
        for instance in &*self.instances {
            let is_its = |one: &&Segment| one.instance == instance.number && !stays(one);
            let own = self.segments.iter().filter(is_its).count();
            let room = Segment { instance: instance.number, ..Segment::new_zeroed() };
            let least = (SEGMENTS_EACH as usize).saturating_sub(own);
            self.segments.extend(std::iter::repeat_n(room, least));
        }
    }

    /// Adds activations that nobody has. Their windows' entries are said when it is known where their stacks are.
    fn activations(&mut self, count: u32) -> Entries {
        let mut index = self.activations.len() as u32;
        let nobody = || {
            index += 1;
            RecordParts::no_activation(index - 1)
        };
        add(self.activations, count, nobody)
    }
}

/// It is the instance's, whatever content that has.
fn stays(segment: &Segment) -> bool {
    matches!(
        segment.content,
        record::CONTENT_CLIENT_STACK | record::CONTENT_CLIENT_GROWTH | record::CONTENT_DMA
    )
}

/// Nothing is there yet.
fn is_room(segment: &Segment) -> bool {
    segment.size == 0
}

/// Adds so many entries to a table.
fn add<T>(table: &mut Vec<T>, count: u32, entry: impl FnMut() -> T) -> Entries {
    let first = table.len();
    table.resize_with(first + count as usize, entry);
    Entries { first: first as u32, count }
}

/// The places of the description's instances.
fn described(places: &Places) -> Vec<Slot> {
    let places_of = |(instance, (exports, methods)): (&Instance, &(Entries, Entries))| {
        let number = instance.number;
        Slot {
            exports: *exports,
            methods: *methods,
            segments: of(places.segments, |one| one.instance == number && !stays(one)),
            stacks: of(places.segments, |one| one.instance == number && stays(one)),
            activations: of(places.activations, |activation| activation.instance == number),
            text: Entries::default(),
        }
    };
    places.instances.iter().zip(places.served).map(places_of).collect()
}

/// Those of a table's entries that are chosen, which follow each other.
fn of<T>(table: &[T], is_chosen: impl Fn(&T) -> bool) -> Entries {
    let first = table.iter().position(&is_chosen).unwrap_or(0);
    let count = table[first..].iter().take_while(|entry| is_chosen(entry)).count();
    Entries { first: first as u32, count: count as u32 }
}
