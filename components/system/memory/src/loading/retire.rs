//! The end of an instance for good: its pages, its number and what the record says of it are another's from then on.

use crate::live::{Entry, Fixed, Table};
use crate::manager::Manager;
use crate::numbers::Stage;
use crate::settled::Settled;
use crate::tables::{self, OWN};
use cairn_abi::address::{
    INSIDE_OFFSET, LEAF_SPAN, PAGE_SIZE, PAGE_TABLES, READY_OFFSET, STARTUP_OFFSET,
};
use cairn_abi::domain::FELLOWS_MAXIMUM;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::loadable::{Entries, Slot, stack_alias};
use cairn_abi::memory::SECTIONS_AT_RUN_TIME;
use cairn_abi::page_table::{index, is_table, table_entry, target};
use cairn_abi::record::{
    Activation, CONTENT_TEXT, Device, Export, FLOAT_PROCESSES, Instance, Interrupt, PagedRange,
    Portal, Thread,
};
use cairn_abi::{DomainId, Error, InstanceId, Space};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

impl Manager<'_> {
    /// Takes back what an instance had that is dead and [released](Manager::release), or is not finished. All other components have
    /// forgotten it, and no device reaches its memory, as for every one that is released. Of those that end together the leader goes last. `Busy`: it lives, something of it is left,
    /// content is beside its own, it has children, or leads others; `NotSupported`: it moves, or others move there; `NotAllowed`: the system ends with it.
    pub fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        let number = self.state.numbers.get(instance)?;
        if number.take(Stage::Made).is_ok() {
            return self.take_back(instance);
        }
        if number.take(Stage::Beside).or_else(|_| number.take(Stage::Former)).is_ok() {
            return self.part(instance).and_then(|()| self.take_back(instance));
        }
        let is_described = match number.take(Stage::Whole) {
            Err(Error::NotFound) => {
                self.account(instance)?;
                number.take(Stage::Unused)?;
                true
            }
            taken => taken.map(|()| false)?,
        };
        let former = if is_described { Stage::Unused } else { Stage::Whole };
        let can_go = match number.children() {
            0 => self.check_can_go(instance).and_then(|()| self.retire_domain(instance)),
            _ => Err(Error::Busy),
        };
        if let Err(error) = can_go {
            number.set(former);
            return Err(error);
        }
        self.take_back(instance)
    }

    /// What never goes, and what does not go yet.
    fn check_can_go(&self, instance: InstanceId) -> Result<(), Error> {
        self.places(instance)?;
        let record = self.record(instance)?;
        if record.essential() != 0 || record.run_to_completion() != 0 {
            return Err(Error::NotAllowed);
        }
        // What it has in its other place nobody would take back, and others move into its page table.
        if record.other_place() != InstanceId(0) || record.has_guests() != 0 {
            return Err(Error::NotSupported);
        }
        // Its page table has pages of the others as well.
        let leads = record.leader() == instance && record.next_fellow() != InstanceId(0);
        if leads || self.has_beside(instance) { Err(Error::Busy) } else { Ok(()) }
    }

    /// Those in whose domain an instance was are one less.
    fn leave_fellows(&self, gone: &Instance) {
        let mut before = self.place(gone.leader).ok();
        for _ in 1..FELLOWS_MAXIMUM {
            match before {
                Some(one) if one.next_fellow() == gone.number => {
                    return one.set(offset_of!(Instance, next_fellow), gone.next_fellow);
                }
                Some(one) => before = self.place(one.next_fellow()).ok(),
                None => return,
            }
        }
    }

    /// Takes back all that a number has, whatever of it is there. The calling thread [is alone](crate::numbers::Number::take) at work on it.
    pub(super) fn take_back(&self, instance: InstanceId) -> Result<(), Error> {
        let (place, slot) = (self.place(instance)?, self.places(instance)?);
        let record = place.read();
        self.leave_fellows(&record);
        place.set(offset_of!(Instance, number), InstanceId(0));
        tables::set_reachable(self.reach_of(place)?, false);
        for activation in self.record.activations.part(slot.activations) {
            let alias = self.tables.find(self.root_of(place)?, stack_alias(activation.index()));
            alias.map(tables::unmap);
        }
        if record.successor_of != InstanceId(0) && self.is_pager(record.successor_of) {
            self.lose_content(place, record.successor_of)?;
        }
        let settled = self.settle();
        self.empty_region(instance, place, settled)?;
        self.end_private(instance, place)?;
        let content = self.record.segments.part(slot.segments);
        for segment in content.chain(self.record.segments.part(slot.stacks)) {
            if segment.physical() == 0 {
                self.give_list(segment.initial(), settled);
            } else if segment.initial() != segment.physical() && segment.initial() != 0 {
                let copies = segment.initial()..segment.initial() + segment.size();
                copies.step_by(PAGE_SIZE as usize).for_each(|page| self.give_frame(page, settled));
            }
        }
        self.forget(instance, &slot);
        self.clear_place(place, &own_of_number(instance, place.read()));
        let number = self.state.numbers.get(instance)?;
        number.pages.store(0, Relaxed);
        if record.parent != InstanceId(0) {
            self.refund(record.parent, record.memory.div_ceil(PAGE_SIZE));
            self.state.numbers.get(record.parent)?.remove_children(1 + record.children);
        }
        number.set(Stage::Unused);
        Ok(())
    }

    /// A pager's former content goes: who was provided with a page of that has it no more.
    fn lose_content(&self, record: Entry<Instance>, pager: InstanceId) -> Result<(), Error> {
        let (root, start) = (self.root_of(record)?, record.start_address());
        for leaf in 0..record.entries_span().div_ceil(LEAF_SPAN) {
            let entries = self.tables.leaf(root, start + leaf * LEAF_SPAN).unwrap_or(&[]);
            let pages = entries.iter().filter_map(tables::mapped);
            pages.for_each(|page| self.lose_page(pager, page));
        }
        Ok(())
    }

    /// Empties the leaf tables of a region, which lead to all of it again, and gives its pages back.
    fn empty_region(
        &self,
        instance: InstanceId,
        record: Entry<Instance>,
        settled: Settled,
    ) -> Result<(), Error> {
        let (root, start) = (self.root_of(record)?, record.start_address());
        let directory = self.tables.to_region(root, start).ok_or(Error::NotFound)?;
        let leaves = record.entries_span().div_ceil(LEAF_SPAN);
        let first = self.tables.physical + (record.entries() - PAGE_TABLES);
        for (leaf, entry) in (0..leaves).zip(directory) {
            // A large page stood for it.
            if !is_table(entry.load(Relaxed) as u64) {
                entry.store(table_entry(first + leaf * PAGE_SIZE) as i64, Relaxed);
            }
        }
        // Behind it are devices, which are nobody's.
        directory.iter().skip(leaves as usize).for_each(|entry| entry.store(0, Relaxed));
        // It is the startup page once more.
        if let Some(ready) = self.tables.find(root, start + READY_OFFSET) {
            ready.store(0, Relaxed);
        }
        let (startup, inside) = (start + STARTUP_OFFSET, start + INSIDE_OFFSET);
        for leaf in 0..leaves {
            let address = start + leaf * LEAF_SPAN;
            let Some(entries) = self.tables.leaf(root, address) else { continue };
            for (page, entry) in (0..).zip(entries) {
                let word = entry.load(Relaxed) as u64;
                if word == 0 {
                    continue;
                }
                entry.store(0, Relaxed);
                let is_own =
                    word & OWN != 0 || [startup, inside].contains(&(address + page * PAGE_SIZE));
                if is_own && !self.is_shared(instance, target(word)) {
                    self.give_frame(target(word), settled);
                }
            }
        }
        match record.in_kernel() {
            0 if is_led(&record.read(), instance) => {
                directory.iter().for_each(|entry| entry.store(0, Relaxed));
            }
            0 => self.clear_views(record)?,
            _ => {}
        }
        Ok(())
    }

    /// Whether a page is not an instance's alone: of the shelf, or code that another one of the description has as well.
    fn is_shared(&self, instance: InstanceId, page: u64) -> bool {
        // Only what was laid out shares the memory of the image with others.
        let is_laid_out = page < self.header.free_memory.start;
        self.is_of_shelf(page)
            || is_laid_out
                && self.record.segments.iter().any(|one| {
                    let pages = one.physical()..one.physical() + one.size();
                    let is_code = one.content() == CONTENT_TEXT && pages.contains(&page);
                    is_code && one.instance() != instance && one.instance() != InstanceId(0)
                })
    }

    /// Nothing but a region and sections made at run time is reached in the next life of a page table: what the description shared with an
    /// instance, and what its role showed it, is not for another.
    fn clear_views(&self, record: Entry<Instance>) -> Result<(), Error> {
        let kept = [record.start_address(), SECTIONS_AT_RUN_TIME].map(|address| index(address, 2));
        let entries = self.tables.to_user_mode(self.root_of(record)?).ok_or(Error::NotFound)?;
        for (place, entry) in entries.iter().enumerate() {
            if !kept.contains(&place) {
                entry.store(0, Relaxed);
            }
        }
        // What it had for processes.
        if record.read().float == FLOAT_PROCESSES
            && let Some(entry) = self.tables.to_status_page(self.root_of(record)?)
        {
            entry.store(0, Relaxed);
        }
        Ok(())
    }

    /// Empties all places of the record that name an instance.
    fn forget(&self, instance: InstanceId, slot: &Slot) {
        if let Some(range) = self.loaded_range(instance) {
            range.write(&PagedRange::new_zeroed());
        }
        clear(self.record.segments, slot.segments);
        clear(self.record.segments, slot.stacks);
        clear(self.record.methods, slot.methods);
        let (exports, of) = (self.record.exports, slot.exports.range());
        for portal in self.record.portals.iter() {
            // The table stays sorted, so only what it leads to goes.
            if portal.client() == instance || of.contains(&(portal.export() as usize)) {
                portal.set(offset_of!(Portal, export), u32::MAX);
                portal.set(offset_of!(Portal, code), 0u64);
            }
        }
        clear(exports, slot.exports);
        let (word, bit) = (instance.index() / 64, 1 << (instance.index() % 64));
        for export in exports.iter().filter(|one| one.instance() != InstanceId(0)) {
            let open = export.read().open;
            // All bits: anyone may.
            if open != [u64::MAX; INSTANCES_MAXIMUM / 64] {
                export.set(offset_of!(Export, open) + word * 8, open[word] & !bit);
            }
        }
        for activation in self.record.activations.iter() {
            let of_slot = activation.instance() == instance;
            if of_slot {
                activation.set(offset_of!(Activation, instance), InstanceId(0));
                activation.set(offset_of!(Activation, windows), 0u64);
            }
            if of_slot || activation.client() == instance {
                activation.set(offset_of!(Activation, client), InstanceId(0));
                activation.set(offset_of!(Activation, queue), u32::MAX);
            }
        }
        for thread in self.record.threads.iter().filter(|one| one.instance() == instance) {
            thread.set(offset_of!(Thread, instance), InstanceId(0));
        }
        // Its devices are nobody's.
        for device in self.record.devices.iter().filter(|one| one.instance() == instance) {
            device.set(offset_of!(Device, instance), InstanceId(0));
        }
        for interrupt in self.record.interrupts.iter().filter(|one| one.instance() == instance) {
            interrupt.set(offset_of!(Interrupt, instance), InstanceId(0));
        }
    }

    /// What stays in a place of the table of instances is what belongs to the number.
    fn clear_place(&self, place: Entry<Instance>, record: &Instance) {
        place.write(&Instance {
            domain: record.domain,
            region: record.region,
            in_kernel: record.in_kernel,
            start_address: record.start_address,
            space: record.space,
            table: record.table,
            entries: record.entries,
            entries_span: record.entries_span,
            page_tables: record.page_tables,
            first_thread: u32::MAX,
            stack_group: u32::MAX,
            first_export: record.first_export,
            log: record.log,
            log_size: record.log_size,
            sections: record.sections,
            names: record.names,
            ..Instance::new_zeroed()
        });
    }
}

/// What a number has when its instance has gone: without a page table of its own, nothing in which another could be.
fn own_of_number(number: InstanceId, record: Instance) -> Instance {
    match is_led(&record, number) {
        true => Instance { domain: DomainId(number.0), space: Space::NONE, ..record },
        false => record,
    }
}

/// Whether an instance is in the domain of another, with which it ends.
fn is_led(record: &Instance, number: InstanceId) -> bool {
    ![InstanceId(0), number].contains(&record.leader)
}

fn clear<T: Fixed + FromBytes + IntoBytes + Immutable>(table: Table<T>, entries: Entries) {
    table.part(entries).for_each(|entry| entry.write(&T::new_zeroed()));
}
