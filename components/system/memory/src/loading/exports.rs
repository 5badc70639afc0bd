//! Exports of an instance and of its successor.
//!
//! What the instance has always served a successor has to serve too: imports lead there. Each may serve more. Of whatever only one of them serves the
//! other has a place all the same, which nobody finds, since it names no instance; so the exchange of their content exchanges their exports in place, and the
//! way back is the same exchange.

use crate::live::Entry;
use crate::manager::Manager;
use cairn_abi::InstanceId;
use cairn_abi::loadable::Slot;
use cairn_abi::record::{Export, Method};
use cairn_interfaces::SuccessorError;
use core::mem::offset_of;

/// The instance of what nobody serves.
const NOBODY: InstanceId = InstanceId(0);

impl<'a> Manager<'a> {
    /// What an instance serves.
    pub(super) fn exports_of(&self, of: InstanceId) -> impl Iterator<Item = Export> {
        let exports = self.record.exports.iter().filter(move |export| export.instance() == of);
        exports.map(|export| export.read())
    }

    /// Gives an instance and its successor a place for all that only the other serves.
    /// `goes_on`: threads are in the instance when its content is exchanged; it serves no more then than it did.
    pub(super) fn pair_exports(
        &self,
        of: InstanceId,
        successor: InstanceId,
        goes_on: bool,
    ) -> Result<(), SuccessorError> {
        let slots = (self.places(of)?, self.places(successor)?);
        for export in self.exports_of(of) {
            if self.same_export(slots.1, &export).is_some() {
                continue;
            }
            if export.is_added == 0 {
                return Err(SuccessorError::NotServed);
            }
            self.add_export((successor, slots.1), slots.0, &export)?;
        }
        if goes_on {
            return Ok(());
        }
        for place in self.record.exports.part(slots.1.exports) {
            let export = place.read();
            if export.instance != successor {
                continue;
            }
            match self.same_export(slots.0, &export) {
                Some(own) if own.is_added() == 0 => continue,
                Some(own) if own.instance() == of => {}
                Some(own) => self.write_export(own, own.read().first_method, &export),
                None => self.add_export((of, slots.0), slots.1, &export)?,
            }
            place.set(offset_of!(Export, is_added), 1u32);
        }
        Ok(())
    }

    /// The place in a slot of an export with the same methods, whether it is served now or not.
    fn same_export(&self, slot: Slot, export: &Export) -> Option<Entry<'a, Export>> {
        let shape = |one: &Export| (one.name, one.version, one.is_object, one.method_count);
        let mut places = self.record.exports.part(slot.exports);
        places.find(|place| shape(&place.read()) == shape(export))
    }

    /// Adds a place for an export that only the other of a pair serves: behind all, or where one is that neither serves.
    fn add_export(
        &self,
        (owner, slot): (InstanceId, Slot),
        other: Slot,
        export: &Export,
    ) -> Result<(), SuccessorError> {
        let record = self.place(owner)?;
        let count = record.read().export_count as usize;
        let used = || self.record.exports.part(slot.exports).take(count);
        let unused = used().find(|place| {
            let one = place.read();
            let is_free = one.instance == NOBODY && self.same_export(other, &one).is_none();
            is_free && one.method_count >= export.method_count
        });
        if let Some(place) = unused {
            self.write_export(place, place.read().first_method, export);
            return Ok(());
        }
        let ends = used().map(|one| one.read()).map(|one| one.first_method + one.method_count);
        let first_method = ends.max().unwrap_or(slot.methods.first);
        let place =
            self.record.exports.part(slot.exports).nth(count).ok_or(SuccessorError::Exports)?;
        if (first_method + export.method_count) as usize > slot.methods.range().end {
            return Err(SuccessorError::Exports);
        }
        self.write_export(place, first_method, export);
        // It is there when all the rest is.
        record.set(offset_of!(cairn_abi::record::Instance, export_count), count as u32 + 1);
        Ok(())
    }

    /// Writes what nobody serves into a place.
    fn write_export(&self, place: Entry<Export>, first_method: u32, export: &Export) {
        for (from, to) in
            (export.first_method..).zip(first_method..).take(export.method_count as usize)
        {
            let [from, to] = [from, to].map(|method| self.record.methods.get(method as usize));
            if let (Some(from), Some(to)) = (from, to) {
                // Its texts go with the other number.
                to.write(&Method { entry: 0, meanings: 0, meanings_length: 0, ..from.read() });
            }
        }
        place.write(&Export {
            instance: NOBODY,
            first_method,
            is_added: 1,
            open: [0; _],
            ..*export
        });
    }

    /// Methods of each export of an instance begin where they do in its successor, and the other way round; and what only one of them served only the
    /// other serves now.
    pub(super) fn exchange_exports(&self, instance: InstanceId, successor: InstanceId) {
        let (Ok(slot), Ok(other)) = (self.places(instance), self.places(successor)) else { return };
        for place in self.record.exports.part(slot.exports) {
            let export = place.read();
            let Some(paired) = self.same_export(other, &export).filter(|_| export.name[0] != 0)
            else {
                continue;
            };
            let pair = paired.read();
            self.exchange_entries(&export, &pair);
            if export.is_added != 0 {
                let serves = |is: bool, who| if is { who } else { NOBODY };
                let instance = serves(pair.instance != NOBODY, instance);
                let successor = serves(export.instance != NOBODY, successor);
                place.write(&Export { instance, open: pair.open, ..export });
                paired.write(&Export { instance: successor, open: export.open, ..pair });
            }
        }
    }

    /// Methods of an export begin where those of another begin with the same methods, and the other way round.
    pub(super) fn exchange_entries(&self, export: &Export, pair: &Export) {
        for method in 0..export.method_count {
            let method = |of: &Export| self.record.methods.get((of.first_method + method) as usize);
            if let (Some(one), Some(other)) = (method(export), method(pair)) {
                let entry = one.entry();
                one.set(offset_of!(Method, entry), other.entry());
                other.set(offset_of!(Method, entry), entry);
            }
        }
    }
}
