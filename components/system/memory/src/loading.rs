//! Instances that come while the system runs: their numbers, quotas, page tables, and what the record says of them.
//!
//! An instance's memory is made in three steps: [`Manager::make`] what is zeros, [`Manager::give`] the content, page by page, and
//! [`Manager::finish`]. Its page table leads nowhere until then, so that nobody reaches a page before its content is there. Whatever
//! fails, [`Manager::retire`] takes all back.

mod beside;
mod exports;
mod finish;
mod fork;
mod give;
mod inside;
mod paged;
mod places;
mod record;
mod retire;
mod succession;
mod successor;

use crate::live::Entry;
use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables::{self, EXECUTE, GLOBAL, OWN, READ, Root, USER, WRITE};
use cairn_abi::address::{LOG_OFFSET, PAGE_SIZE, READY_OFFSET};
use cairn_abi::descriptor::{NAME_SIZE, Name};
use cairn_abi::loadable::{Slot, stack_alias};
use cairn_abi::log::LEVEL;
use cairn_abi::record::{Activation, CONTENT_CONSTANTS, CONTENT_TEXT, Instance};
use cairn_abi::{Error, InstanceId};
use cairn_loader::package::Head;
use cairn_loader::placement::Placement;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

/// The rights of an instance's own pages with such content.
fn rights(content: u16) -> u64 {
    OWN | USER
        | match content {
            CONTENT_TEXT => READ | EXECUTE,
            CONTENT_CONSTANTS => READ,
            _ => READ | WRITE,
        }
}

/// Whole pages.
fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_SIZE)
}

/// An instance that is being made.
struct New<'a> {
    number: InstanceId,
    slot: Slot,
    /// What the record says of it, as far as it is known.
    record: Instance,
    root: Root,
    head: &'a Head<'a>,
    placement: Placement,
    /// Who provides its range that has a pager, if it has one.
    pager: Option<InstanceId>,
    /// Of a successor: whose.
    linked: Option<Linked>,
}

/// Where a successor will be.
#[derive(Clone, Copy)]
struct Linked {
    /// Of which instance it is the successor.
    of: InstanceId,
    /// Where the region of that begins.
    region: u64,
}

impl New<'_> {
    fn address(&self, offset: u64) -> u64 {
        self.record.start_address + offset
    }

    /// The address as its own code has it.
    fn linked(&self, offset: u64) -> u64 {
        self.linked.map_or(self.record.start_address, |linked| linked.region) + offset
    }
}

/// A name as the record has it: no other has the same, and people can say it.
fn name(text: &str) -> Result<Name, Error> {
    let is_good = (1..NAME_SIZE).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.');
    if !is_good {
        return Err(Error::BadArgument);
    }
    let mut name = [0; NAME_SIZE];
    name[..text.len()].copy_from_slice(text.as_bytes());
    Ok(name)
}

impl Manager<'_> {
    /// Makes an instance, a child of `parent`, as the head of its package says, but for its content. The number is its.
    ///
    /// `Exhausted`: the parent's quotas do not hold it, or no number is free; `NotAllowed`: the parent may load nothing;
    /// `TooLarge`: it needs more than there is for one; `Busy`: another has the name; `NotFound`: its pager is not there; `BadArgument`: it is made for
    /// a place beside others in their domain.
    pub fn make(&self, parent: InstanceId, text: &str, head: &Head) -> Result<InstanceId, Error> {
        if head.numbers().portals_before != 0 {
            return Err(Error::BadArgument);
        }
        let name = name(text)?;
        self.make_linked(self.parent(parent)?, name, head, None)
    }

    /// The same, or the successor of an instance, for which its place is known.
    fn make_linked(
        &self,
        of_parent: Entry<Instance>,
        name: Name,
        head: &Head,
        linked: Option<(Placement, Linked)>,
    ) -> Result<InstanceId, Error> {
        let numbers = head.numbers();
        let pager = self.pager_of(head)?;
        let mut new = New { pager, ..self.find_place(head, linked)? };
        let number = self.state.numbers.get(new.number)?;
        let paid = (1 + numbers.children, pages(numbers.memory));
        if let Err(error) = self.enter(new.number, &mut new.record, (name, of_parent), paid) {
            number.set(Stage::Unused);
            return Err(error);
        }
        number.pages.store(0, Relaxed);
        (new.record.parent, new.record.children) = (of_parent.number(), numbers.children);
        new.record.memory = numbers.memory;
        // What its death costs is not done at a higher priority than for its parent's; and what is left of a replacement at that of who asked for it, even if the one that is
        // replaced runs when nobody else does.
        let recovery = if linked.is_some() { u32::MAX } else { numbers.recovery_priority.into() };
        new.record.recovery_priority = recovery.min(of_parent.recovery_priority());
        // So that it can be taken back.
        self.place(new.number)?.write(&new.record);
        match self.make_zeros(&new) {
            Ok(()) => {
                number.set(Stage::Made);
                Ok(new.number)
            }
            Err(error) => {
                self.take_back(new.number)?;
                Err(error)
            }
        }
    }

    /// Who may have children. A system in which nobody may has no places for any.
    fn parent(&self, parent: InstanceId) -> Result<Entry<'_, Instance>, Error> {
        let record = self.record(parent)?;
        if record.children() == 0 { Err(Error::NotAllowed) } else { Ok(record) }
    }

    /// A number that nobody has, with places that are enough.
    fn find_place<'a>(
        &self,
        head: &'a Head<'a>,
        linked: Option<(Placement, Linked)>,
    ) -> Result<New<'a>, Error> {
        let loadable = self.header.loadable;
        let all = (loadable.start..loadable.end).chain(1..loadable.start);
        self.take_number(all, |number| self.place_at(number, head, linked))
    }

    /// Takes a number that nobody has, of these, for which `place` finds places enough; the last reason, if there is none.
    fn take_number<T>(
        &self,
        numbers: impl Iterator<Item = u64>,
        place: impl Fn(InstanceId) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut error = Error::Exhausted;
        for number in numbers.filter_map(|number| Some(InstanceId(u16::try_from(number).ok()?))) {
            let state = self.state.numbers.get(number)?;
            if self.account(number).is_ok() || state.take(Stage::Unused).is_err() {
                continue;
            }
            match place(number) {
                Ok(found) => return Ok(found),
                Err(reason) => error = reason,
            }
            state.set(Stage::Unused);
        }
        Err(error)
    }

    /// What is made under a number that is taken, if it has places enough.
    fn place_at<'a>(
        &self,
        number: InstanceId,
        head: &'a Head<'a>,
        linked: Option<(Placement, Linked)>,
    ) -> Result<New<'a>, Error> {
        let record = self.place(number)?.read();
        let slot = self.record.slots.get(number.index() - 1).ok_or(Error::Exhausted)?.read();
        // Another thread took it, or it is of the kernel domain, or shares a domain.
        if record.number != InstanceId(0) || record.in_kernel != 0 {
            return Err(Error::Exhausted);
        }
        let numbers = head.numbers();
        let placement = match linked {
            Some((placement, _)) => placement,
            None => Placement::new(&head.wanted(numbers.activations.into()), record.region),
        };
        let stacks = placement.stacks().count() as u32;
        let fits = placement.end() <= record.entries_span
            && stacks <= slot.activations.count
            && stacks - 1 <= slot.stacks.count
            && numbers.counts.segments + 2 <= slot.segments.count
            && numbers.counts.exports <= slot.exports.count
            && numbers.counts.methods <= slot.methods.count
            && u64::from(numbers.names) <= record.names.end - record.names.start
            && u64::from(numbers.sections) <= record.sections
            && (numbers.paged == 0 || self.loaded_range(number).is_some());
        let root = self.tables.root(record.space).ok_or(Error::Exhausted)?;
        if !fits {
            return Err(Error::TooLarge);
        }
        let linked = linked.map(|(_, linked)| linked);
        Ok(New { number, slot, record, root, head, placement, pager: None, linked })
    }

    /// Enters a new instance under its name, with what its parent pays for it: children, and pages of memory.
    fn enter(
        &self,
        number: InstanceId,
        record: &mut Instance,
        (name, parent): (Name, Entry<Instance>),
        (children, pages): (u32, u64),
    ) -> Result<(), Error> {
        let entered = self.take_name(number, record, name).and_then(|()| {
            let parents = self.state.numbers.get(parent.number())?;
            parents.add_children(children, parent.children())?;
            self.charge(parent.number(), pages).inspect_err(|_| parents.remove_children(children))
        });
        if entered.is_err()
            && let Ok(place) = self.place(number)
        {
            record.name = [0; NAME_SIZE];
            place.write(record);
        }
        entered
    }

    /// Enters a name into the record, if no other instance has it. Of two that do it at the same time none may get it.
    fn take_name(&self, new: InstanceId, record: &mut Instance, name: Name) -> Result<(), Error> {
        record.name = name;
        self.place(new)?.write(record);
        let mut others = (1..).zip(self.record.instances.iter());
        let has_it = others.any(|(number, other)| {
            let number = InstanceId(number);
            let is_unused = self.state.numbers.get(number).is_ok_and(|one| one.is(Stage::Unused));
            let is_there = other.is_there() || !is_unused;
            number != new && is_there && other.name() == name
        });
        if has_it { Err(Error::Busy) } else { Ok(()) }
    }

    /// Makes the pages that are zeros, the log, the aliases of stacks, and all that the record says.
    fn make_zeros(&self, new: &New) -> Result<(), Error> {
        let image = new.placement.image().start;
        for segment in new.head.segments() {
            let from = segment.offset + segment.file_size.next_multiple_of(PAGE_SIZE);
            let zeros = image + from..image + segment.image().end;
            self.map_zeros(new, zeros, rights(segment.content))?;
        }
        self.map_zeros(new, new.placement.heap(), OWN | USER | READ | WRITE)?;
        for stack in new.placement.stacks() {
            self.map_zeros(new, stack, OWN | USER | READ | WRITE)?;
        }
        // Clients' stacks, the log and whether it serves are the instance's, whatever content it has.
        if new.linked.is_none() {
            self.map_aliases(new)?;
            let numbers = new.head.numbers();
            let kept = (numbers.log_size != 0).then_some(numbers.log_level);
            self.map_log(new.root, &new.record, kept)?;
            if new.head.numbers().says_ready & !new.head.numbers().callers_wait & 1 != 0 {
                let ready = self.tables.find(new.root, new.address(READY_OFFSET));
                // What is there [`Manager::finish`] knows.
                tables::reserve(ready.ok_or(Error::TooLarge)?);
            }
        }
        self.write_record(new);
        self.write_range(new);
        self.write_exports(new);
        self.settle();
        Ok(())
    }

    /// Portals write to the top pages of stacks.
    fn map_aliases(&self, new: &New) -> Result<(), Error> {
        let activations = self.record.activations.part(new.slot.activations);
        let mut stacks = new.placement.stacks().zip(activations);
        stacks.try_for_each(|(stack, one)| self.map_alias(new.root, new.address(stack.end), one))
    }

    /// The same of the stack of an activation, which ends at `end` and is mapped.
    fn map_alias(&self, root: Root, end: u64, of: Entry<Activation>) -> Result<(), Error> {
        let page = self.tables.find(root, end - PAGE_SIZE).map(tables::page);
        let alias = self.tables.find(root, stack_alias(of.index()));
        let (Some(page), Some(alias)) = (page, alias) else { return Err(Error::TooLarge) };
        tables::map_over(alias, page, GLOBAL | READ | WRITE);
        Ok(())
    }

    /// Maps fresh pages, within the instance's quota.
    fn map_zeros(&self, new: &New, offsets: Range<u64>, rights: u64) -> Result<(), Error> {
        for offset in offsets.step_by(PAGE_SIZE as usize) {
            let entry = self.tables.find(new.root, new.address(offset)).ok_or(Error::TooLarge)?;
            self.add_page(new.number, new.record.memory)?;
            tables::map_over(entry, self.take_frame()?, rights);
        }
        Ok(())
    }

    /// A page more is an instance's that is not whole, of a quota in bytes.
    fn add_page(&self, number: InstanceId, quota: u64) -> Result<(), Error> {
        let pages = &self.state.numbers.get(number)?.pages;
        if u64::from(pages.load(Relaxed)) >= quota / PAGE_SIZE {
            return Err(Error::Exhausted);
        }
        pages.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Maps the number's log, as it is at first, or the page that says that nothing is logged. `kept`: of what it logs something is kept,
    /// from this level on.
    fn map_log(&self, root: Root, record: &Instance, kept: Option<u8>) -> Result<(), Error> {
        let size = if kept.is_none() || self.header.logs == 0 { 0 } else { record.log_size };
        let entry = |offset| {
            let address = record.start_address + LOG_OFFSET + offset;
            self.tables.find(root, address).ok_or(Error::TooLarge)
        };
        if size == 0 {
            tables::map_over(entry(0)?, self.header.no_log, USER | READ);
            return Ok(());
        }
        let log = self.words(self.header.logs + record.log, size);
        crate::death::zero(log);
        if let Some(level) = log.get(LEVEL) {
            level.store(kept.unwrap_or_default().into(), Relaxed);
        }
        for offset in (0..size).step_by(PAGE_SIZE as usize) {
            let page = self.header.logs + record.log + offset;
            tables::map_over(entry(offset)?, page, USER | READ | WRITE);
        }
        Ok(())
    }
}
