//! What a layout says of itself: how much of the board's memory is whose, and who may what.

use super::instance::Placed;
use super::{Layout, pages};
use crate::report::{Confined, InstanceReport, Report};
use crate::room::Room;
use crate::sharing::Shared;
use crate::translations::Capacity;
use cairn_abi::address::{PAGE_SIZE, PORTAL_CODE};
use cairn_abi::device::VirtioKind;

impl Layout<'_> {
    pub(super) fn instance_report(&self, index: usize) -> InstanceReport {
        let placed = &self.placed[index];
        // A guest has what it has in its own page table.
        let own = u64::from(self.guest(index).is_none());
        InstanceReport {
            page_tables: placed.page_tables * PAGE_SIZE * own,
            memory: placed.memory_used * own,
            quota: *self.system.instances[index].memory * own,
            placement: self.system.placement(index),
            ..placed.report.clone()
        }
    }

    /// Memory that the layout takes and no instance's quota pays for.
    pub(super) fn room(&self) -> Room {
        let sections = self.system.sections.iter().filter(|section| section.pager.is_none());
        let sections = sections.map(|section| pages(*section.size) * PAGE_SIZE);
        // Of one that moves the quota pays for one place, whichever it is in: for that which takes less.
        let paid = |(index, placed): (usize, &Placed)| {
            let instance = &self.system.instances[index];
            let other = instance.other_place.map(|other| self.placed[other].memory_used);
            let paid = other.map_or(placed.memory_used, |other| other.min(placed.memory_used));
            if instance.is_other_place() { 0 } else { paid }
        };
        let placed: u64 = self.placed.iter().enumerate().map(paid).sum();
        let described = &self.placed[..self.system.described().len()];
        let shared: u64 = described.iter().map(|placed| placed.memory_shared).sum();
        let portal_code = self.code.extent().1 + self.areas.counters.size;
        Room {
            image: self.image_size(),
            own: self.image_size() - (placed - shared) + self.process_room(),
            shared,
            processes: self.process_room(),
            // The pool of page tables is behind all this.
            nucleus: self.tables.physical - self.areas.nucleus.physical - portal_code,
            portal_code,
            page_tables: self.tables.count * PAGE_SIZE,
            sections: sections.sum(),
            shelf: self.shelf.1,
        }
    }

    /// Instances that are trusted with all memory, and by which devices.
    fn trusted(&self) -> Vec<(String, Vec<String>)> {
        let trusted = self.system.described().iter().filter(|instance| *instance.trusted);
        let entry = |instance: &cairn_description::model::Instance| {
            let devices =
                instance.devices.iter().map(|device| &self.system.board.devices[**device]);
            let reaching =
                devices.filter(|device| device.dma).map(|device| device.shown().to_owned());
            (instance.name.to_string(), reaching.collect())
        };
        trusted.map(entry).collect()
    }

    /// Devices with DMA that reach nothing but what is meant for them.
    fn confined(&self) -> Vec<Confined> {
        let board = &self.system.board;
        let mut confined = Vec::new();
        for (index, instance) in self.system.instances.iter().enumerate() {
            let devices = instance.devices.iter().map(|device| **device);
            for device in devices.filter(|device| self.system.is_confined(index, *device)) {
                let device = &board.devices[device];
                confined.push(Confined {
                    device: device.shown().to_owned(),
                    kind: device.kind().map_or("", VirtioKind::name).to_owned(),
                    instance: instance.name.to_string(),
                    dma: *instance.dma,
                });
            }
        }
        confined
    }

    /// Instances in the kernel domain, and whether unsafe code of theirs is accepted.
    fn in_kernel(&self) -> Vec<(String, bool)> {
        let placed = self.system.instances.iter().filter(|instance| instance.is_in_kernel());
        placed.map(|one| (one.name.to_string(), *one.accepts_unsafe_code)).collect()
    }

    /// Instances that reach devices which they were not given.
    fn beside(&self) -> Vec<(String, Vec<String>)> {
        let board = &self.system.board;
        let mut beside = Vec::new();
        for instance in self.system.described() {
            let given = instance.devices.iter().map(|device| &board.devices[**device]);
            let given: Vec<_> = given.collect();
            let reached = given.iter().flat_map(|device| board.devices_in(device.pages()));
            let mut names: Vec<String> = reached
                .filter(|device| given.iter().all(|own| own.base != device.base))
                .map(|device| device.shown().to_owned())
                .collect();
            names.dedup();
            if !names.is_empty() {
                beside.push((instance.name.to_string(), names));
            }
        }
        beside
    }

    /// Sections that begin with something.
    fn contents(&self) -> Vec<(String, String, u64)> {
        let sections = self.system.sections.iter().zip(self.contents);
        let entry = |(section, bytes): (&cairn_description::model::Section, &Vec<u8>)| {
            let from = section.content.as_ref()?;
            Some((section.name.to_string(), from.to_string(), bytes.len() as u64))
        };
        sections.filter_map(entry).collect()
    }

    pub(super) fn report(&self, shared: Shared) -> Report {
        let instances = self.instances().map(|index| self.instance_report(index)).collect();
        Report {
            profile: self.system.profile.name().to_owned(),
            load_address: self.areas.nucleus.physical,
            record: self.record_physical,
            image_size: self.image_size(),
            memory_needed: self.room().needed(self.system),
            nucleus_code: self.nucleus.code_size,
            portal_code: self.code.next() - PORTAL_CODE,
            page_tables: self.tables.used * PAGE_SIZE,
            shelf: self.shelf.1,
            contents: self.contents(),
            tlb: self.system.board.tlb.map(Capacity::from),
            instances,
            shared: shared.sharings,
            roles: shared.roles,
            trusted: self.trusted(),
            confined: self.confined(),
            in_kernel: self.in_kernel(),
            beside: self.beside(),
        }
    }
}
