//! Moves: an instance that is dead goes to its other place, in the kernel domain or in the page table of another, and back.
//!
//! The host has laid both out, and each is one row of the record, with all that a place has: domain, region, page table, image, segments, entries of
//! its methods, portals of its imports. What both rows say of that is exchanged, so the row of the instance says where it is and the row of its other place
//! where it was. Between a domain and the kernel domain no page and no page table changes; into the page table of another goes [what leads](guests) to the pages.

mod guests;

use crate::live::Entry;
use crate::manager::Manager;
use crate::numbers::Stage;
use cairn_abi::address::READY_OFFSET;
use cairn_abi::loadable::{Entries, Slot};
use cairn_abi::record::{CALLERS_WAIT_ONCE, Export, Instance, Portal, Segment};
use cairn_abi::startup::Startup;
use cairn_abi::{Error, InstanceId};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

const NOBODY: InstanceId = InstanceId(0);

impl<'a> Manager<'a> {
    /// Whether a number is that of the other place of an instance.
    pub(super) fn is_other_place(&self, instance: InstanceId, other: InstanceId) -> bool {
        let place = self.record(instance).map_or(NOBODY, |ours| ours.other_place());
        place != NOBODY && place == other
    }

    /// Makes the other place of an instance as it was at the start, so that its next life can begin there at once. Nobody is in it. `NotSupported`: there is
    /// none, or the content of the instance is not the description's.
    pub fn prepare_place(&self, instance: InstanceId) -> Result<(), Error> {
        let ours = self.record(instance)?;
        self.with_other_place(ours, |theirs| {
            if ours.host() != NOBODY {
                // The pages are those that it has: they are made anew when it has left them.
                return Ok(());
            }
            let mut at = 0;
            loop {
                at = self.renew_place(theirs, at)?;
                if at == 0 {
                    return Ok(());
                }
            }
        })
    }

    /// Exchanges the places of an instance that is dead and [released](Manager::release), and of its other place.
    pub(super) fn exchange_places(&self, instance: InstanceId) -> Result<(), Error> {
        let ours = self.record(instance)?;
        if !self.account(instance)?.is_released.load(Relaxed) {
            return Err(Error::Busy);
        }
        self.with_other_place(ours, |theirs| {
            match ours.host() {
                NOBODY => self.exchange_images(ours, theirs)?,
                _ => self.exchange_page_tables(ours, theirs)?,
            }
            self.exchange_portals(instance, theirs.number());
            self.close_until_it_serves(ours)?;
            self.account(instance)?.renew(self.said(ours));
            self.settle();
            Ok(())
        })
    }

    /// Exchanges what both rows say of a place that has an image of its own.
    fn exchange_images(
        &self,
        ours: Entry<'a, Instance>,
        theirs: Entry<'a, Instance>,
    ) -> Result<(), Error> {
        let (one, other) = (ours.read(), theirs.read());
        // Before anything is changed: all of it is there.
        let startups = (self.startup(ours)?, self.startup(theirs)?);
        self.pairs_of_exports(&one, &other).try_for_each(|pair| pair.map(drop))?;
        let generation = offset_of!(Startup, generation) / 8;
        if let (Some(from), Some(to)) = (startups.0.get(generation), startups.1.get(generation)) {
            to.store(from.load(Relaxed), Relaxed);
        }
        self.exchange_segments(one.number, other.number);
        for (exports, others) in self.pairs_of_exports(&one, &other).flatten() {
            self.exchange_entries(&exports, &others);
        }
        ours.write(&in_place_of(&one, &other));
        theirs.write(&in_place_of(&other, &one));
        Ok(())
    }

    /// In the life that begins it says when it serves, wherever it is: no caller is to be told that it does not yet.
    fn close_until_it_serves(&self, ours: Entry<Instance>) -> Result<(), Error> {
        let at = ours.start_address() + READY_OFFSET;
        let ready = self.tables.find(self.root_of(ours)?, at).ok_or(Error::NotFound)?;
        // Mapped from the start: it would say so, and nobody waits for that.
        if ready.swap(0, Relaxed) != 0 && ours.callers_wait() == 0 {
            ours.set(offset_of!(Instance, callers_wait), CALLERS_WAIT_ONCE);
        }
        Ok(())
    }

    /// Does something with the other place of an instance, alone. `NotSupported`: it has none, or has another content than the description's.
    fn with_other_place<T>(
        &self,
        ours: Entry<'a, Instance>,
        body: impl FnOnce(Entry<'a, Instance>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let other = ours.other_place();
        if other == NOBODY || ours.package() != 0 {
            return Err(Error::NotSupported);
        }
        let theirs = self.place(other)?;
        if theirs.other_place() != ours.number() || theirs.successor_of() != ours.number() {
            return Err(Error::BadArgument);
        }
        let number = self.state.numbers.get(other)?;
        number.take(Stage::Unused)?;
        let result = body(theirs);
        number.set(Stage::Unused);
        result
    }

    /// What is memory of the one becomes the other's.
    fn exchange_segments(&self, instance: InstanceId, other: InstanceId) {
        let slots = (self.places(instance), self.places(other));
        let all = Entries { first: 0, count: self.header.segments.count };
        let parts = match slots {
            (Ok(own), Ok(new)) => [own.segments, own.stacks, new.segments, new.stacks],
            // Nothing can be loaded, and there are few.
            _ => [all, Entries::default(), Entries::default(), Entries::default()],
        };
        for segment in parts.into_iter().flat_map(|part| self.record.segments.part(part)) {
            let owner = segment.instance();
            if owner == instance || owner == other {
                let now = if owner == instance { other } else { instance };
                segment.set(offset_of!(Segment, instance), now);
            }
        }
        if let (Ok(own), Ok(new)) = slots {
            for (number, own, new) in [(instance, own, new), (other, new, own)] {
                if let Some(place) = self.record.slots.get(number.index() - 1) {
                    place.write(&Slot { segments: new.segments, stacks: new.stacks, ..own });
                }
            }
        }
    }

    /// Imports have the code that leads from where their client is. Both have them at the same indexes.
    fn exchange_portals(&self, instance: InstanceId, other: InstanceId) {
        let of = |client| self.record.portals.iter().filter(move |one| one.client() == client);
        let mut others = of(other).peekable();
        for ours in of(instance) {
            let (own, index) = (ours.read(), ours.index());
            while others.next_if(|one| one.index() < index).is_some() {}
            if let Some(theirs) = others.next_if(|one| one.index() == index) {
                let new = theirs.read();
                ours.write(&led_as(&own, &new));
                theirs.write(&led_as(&new, &own));
            }
        }
    }

    /// The exports of an instance with those of its other place, which has the same in the same order.
    fn pairs_of_exports(
        &self,
        one: &Instance,
        other: &Instance,
    ) -> impl Iterator<Item = Result<(Export, Export), Error>> + use<'a> {
        let table = self.record.exports;
        let (first, second) = (one.first_export as usize, other.first_export as usize);
        (0..other.export_count as usize).map(move |place| {
            let pair = table.get(first + place).zip(table.get(second + place));
            let (own, new) =
                pair.map(|(one, other)| (one.read(), other.read())).ok_or(Error::BadArgument)?;
            let shape = |one: &Export| (one.name, one.version, one.method_count);
            if shape(&own) == shape(&new) { Ok((own, new)) } else { Err(Error::BadArgument) }
        })
    }
}

/// A row with what another says of its place.
fn in_place_of(own: &Instance, other: &Instance) -> Instance {
    Instance {
        domain: other.domain,
        is_away: other.is_away,
        float: other.float,
        callers_wait: other.callers_wait,
        in_kernel: other.in_kernel,
        region: other.region,
        memory_used: other.memory_used,
        start_address: other.start_address,
        space: other.space,
        table: other.table,
        entries: other.entries,
        entries_span: other.entries_span,
        page_tables: other.page_tables,
        portal_code: other.portal_code,
        main: other.main,
        stub: other.stub,
        stack: other.stack,
        ..*own
    }
}

/// A row with the code of another.
fn led_as(own: &Portal, other: &Portal) -> Portal {
    Portal {
        code: other.code,
        code_elsewhere: other.code_elsewhere,
        specification: other.specification,
        queue: other.queue,
        ..*own
    }
}
