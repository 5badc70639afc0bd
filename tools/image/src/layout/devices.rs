//! Devices in their drivers' regions: registers, the memory that a device reaches by itself, and the portals by which a
//! driver works a virtio device (`cairn_abi::device`).

use super::{Layout, pages};
use crate::memory::*;
use cairn_abi::address::*;
use cairn_abi::descriptor;
use cairn_abi::device::*;
use cairn_abi::startup::Mapping;
use cairn_abi::{InstanceId, record};
use cairn_description::board::Device;
use cairn_description::model::Instance;
use cairn_portal::{Crossing, DeviceOperation, DeviceQueue, generate};

/// Where an instance's memory for DMA lies: the pages of its devices' queues, the memory that descriptors name, and a margin.
#[derive(Clone, Copy)]
pub(super) struct DmaParts {
    /// Offset of the first queue in the region.
    pub queues: u64,
    /// Pages of queues.
    queue_pages: u64,
    /// Bytes of the memory behind them.
    pub size: u64,
}

impl DmaParts {
    /// They begin at an offset of the region.
    pub fn new(instance: &Instance, devices: &[Device], queues: u64) -> DmaParts {
        let kinds = instance.devices.iter().filter_map(|device| devices[**device].kind());
        let queue_pages = kinds.map(|kind| kind.queues() as u64 * QUEUE_PAGES).sum();
        DmaParts { queues, queue_pages, size: *instance.dma }
    }

    /// Offset of the memory behind the queues.
    pub fn memory(&self) -> u64 {
        self.queues + self.queue_pages * PAGE_SIZE
    }

    /// Offset behind all of it.
    pub fn end(&self) -> u64 {
        self.memory() + self.size
    }
}

impl Layout<'_> {
    /// Maps the registers of an instance's devices, and takes memory for DMA. Of a confined driver's device the registers can be
    /// read only, and so can the descriptors of its queues.
    pub(super) fn map_devices(&mut self, index: usize) -> Result<(), String> {
        let (root, reach) = (self.placed[index].root, self.placed[index].reach);
        let region = self.placed[index].region;
        for (position, device) in self.system.instances[index].devices.iter().enumerate() {
            let range = self.system.board.devices[**device].pages();
            let address = region + self.device_offset(index, position);
            let write = if self.system.is_confined(index, **device) { 0 } else { WRITE };
            let (size, rights) = (range.end - range.start, reach | READ | write);
            self.tables.map_large(&mut self.memory, root, address, range.start, size, rights)?;
        }
        self.map_dma(index)
    }

    /// One range of physical memory: queues, the memory that descriptors name, the margin.
    fn map_dma(&mut self, index: usize) -> Result<(), String> {
        let system = self.system;
        let (instance, parts) = (&system.instances[index], self.placed[index].parts.dma);
        let is_confined = |device: &usize| system.is_confined(index, *device);
        let margin = match instance.devices.iter().any(|device| is_confined(device)) {
            true => dma_margin(parts.size),
            false => 0,
        };
        let bytes = parts.end() - parts.queues + margin;
        let physical = self.memory.pages(pages(bytes));
        self.placed[index].dma_physical = physical;
        let mut at = parts.queues;
        for device in &instance.devices {
            let Some(kind) = system.board.devices[**device].kind() else { continue };
            for _ in 0..kind.queues() {
                let place = physical + at - parts.queues;
                for number in 0..kind.descriptors() {
                    let next = (number + 1) % kind.descriptors();
                    self.memory.store(place + number * DESCRIPTOR_SIZE + 8, next << 48);
                }
                let write = if is_confined(device) { 0 } else { WRITE };
                self.map_own(index, at, place, PAGE_SIZE, READ | write)?;
                let rings = (at + PAGE_SIZE, place + PAGE_SIZE);
                self.map_own(index, rings.0, rings.1, (QUEUE_PAGES - 1) * PAGE_SIZE, READ | WRITE)?;
                at += QUEUE_PAGES * PAGE_SIZE;
            }
        }
        let place = physical + at - parts.queues;
        self.map_own(index, at, place, parts.size, READ | WRITE | OWN)
    }

    /// Maps what a device reaches; where the driver writes it, a new life finds zeros.
    fn map_own(
        &mut self,
        index: usize,
        offset: u64,
        physical: u64,
        size: u64,
        rights: u64,
    ) -> Result<(), String> {
        if size == 0 {
            return Ok(());
        }
        let placed = &self.placed[index];
        let (address, rights) = (placed.region + offset, placed.reach | rights);
        self.tables.map_range(&mut self.memory, placed.root, address, physical, size, rights)?;
        // The next descriptors stay in a table that a trusted driver writes as well: it writes them all.
        let whose = (self.system.instances[index].number, record::CONTENT_DMA);
        self.record.segment(whose, rights, address, size, physical, 0);
        Ok(())
    }

    /// Where a device's first page lies in the region: devices follow each other, a page apart.
    fn device_offset(&self, index: usize, position: usize) -> u64 {
        let before = self.system.instances[index].devices[..position].iter().map(|device| {
            let range = self.system.board.devices[**device].pages();
            range.end - range.start + PAGE_SIZE
        });
        DEVICES_OFFSET + before.sum::<u64>()
    }

    /// Physical address of the queues of the device at a position.
    fn queues_of(&self, index: usize, position: usize) -> u64 {
        let before = self.system.instances[index].devices[..position].iter();
        let kinds = before.filter_map(|device| self.system.board.devices[**device].kind());
        let queues: u64 = kinds.map(|kind| kind.queues() as u64).sum();
        self.placed[index].dma_physical + queues * QUEUE_PAGES * PAGE_SIZE
    }

    /// The portals of an instance for its virtio devices, a block for each.
    pub(super) fn connect_virtio(&mut self, index: usize) -> Result<(), String> {
        let system = self.system;
        for (position, device) in system.instances[index].devices.iter().enumerate() {
            let board = &system.board.devices[**device];
            let Some(kind) = board.kind() else { continue };
            let range = board.pages();
            let confines = system.is_confined(index, **device);
            let alias = self.map_for_portals(range.start, range.end - range.start, confines)?;
            let registers = alias + board.base - range.start;
            let queues = kind.queues() as u64;
            let room = board.size.saturating_sub(register::CONFIGURATION);
            let configuration = kind.configuration_size().min(room);
            let mut operations = vec![
                DeviceOperation::Notify { registers, queues },
                DeviceOperation::Acknowledge { registers },
                DeviceOperation::Configure { registers, size: configuration },
            ];
            let parts = self.placed[index].parts.dma;
            let first_queue = self.queues_of(index, position);
            for number in 0..queues {
                let table = first_queue + number * QUEUE_PAGES * PAGE_SIZE;
                let queue = DeviceQueue {
                    descriptors: self.map_for_portals(table, PAGE_SIZE, confines)?,
                    count: kind.descriptors(),
                    device_address: self.placed[index].dma_physical + parts.memory() - parts.queues,
                    size: parts.size,
                };
                let rings = self.map_for_portals(table + PAGE_SIZE, PAGE_SIZE, false)?;
                operations.push(DeviceOperation::Post(queue));
                operations.push(DeviceOperation::Offer { queue, number, rings, registers });
            }
            let first = self.placed[index].next_portal;
            self.record.set_device_portal((index, position), first as u64);
            let crossing = Crossing { caller: self.end(index), ..Crossing::NONE };
            for (portal, operation) in (first..).zip(operations) {
                let made = self.code.add(&mut self.memory, |words, address| {
                    generate::device(operation, &crossing, words, address)
                })?;
                self.install(index, portal, made.call);
            }
        }
        Ok(())
    }

    /// Maps pages for portals, writable; where. `confines`: the driver does not write them.
    fn map_for_portals(&mut self, physical: u64, size: u64, confines: bool) -> Result<u64, String> {
        let first = self.next.device_page;
        self.next.device_page += pages(size);
        let alias = if confines { DEVICES } else { DEVICE_RINGS } + first * PAGE_SIZE;
        self.map_kernel_range(alias, physical, size, READ | WRITE)?;
        Ok(alias)
    }

    /// What the startup page says of an instance's devices.
    pub(super) fn device_mappings(&self, index: usize) -> Vec<Mapping> {
        let parts = self.placed[index].parts.dma;
        let region = self.placed[index].region;
        let mapping = |(position, place): (usize, &cairn_description::Located<usize>)| {
            let device = &self.system.board.devices[**place];
            let in_page = device.base - device.pages().start;
            let has_dma = device.dma && parts.size > 0;
            let before = self.queues_of(index, position) - self.placed[index].dma_physical;
            let physical = self.placed[index].dma_physical + parts.memory() - parts.queues;
            let (interrupt_portal, interrupt_count) =
                self.record.interrupt_portals(index, position);
            let name = &self.system.instances[index].device_names[position];
            Mapping {
                name: descriptor::name(name),
                address: region + self.device_offset(index, position) + in_page,
                size: device.size,
                interrupt_portal,
                interrupt_count,
                writable: u64::from(!self.system.is_confined(index, **place)),
                device_portal: self.record.device_portal(index, position),
                device_address: if has_dma { physical } else { 0 },
                queues: device.kind().map_or(0, |_| region + parts.queues + before),
                queue_count: device.kind().map_or(0, |kind| kind.queues() as u64),
            }
        };
        self.system.instances[index].devices.iter().enumerate().map(mapping).collect()
    }

    /// The devices of the record, and the registers that the device owner reaches, by their pages: those of the devices that it
    /// can reset.
    pub(super) fn owned_devices(&self) -> (Vec<record::Device>, Vec<u64>) {
        let (mut devices, mut registers) = (Vec::new(), Vec::new());
        for (index, instance) in self.system.instances.iter().enumerate() {
            for (position, place) in instance.devices.iter().enumerate() {
                let device = &self.system.board.devices[**place];
                if !device.dma {
                    continue;
                }
                let kind = device.kind();
                let in_view = registers.len() as u64 * PAGE_SIZE + device.base % PAGE_SIZE;
                if kind.is_some() {
                    registers.extend(device.pages().step_by(PAGE_SIZE as usize));
                }
                devices.push(record::Device {
                    instance: InstanceId(instance.number.0),
                    position: position as u16,
                    kind: kind.map_or(0, VirtioKind::number),
                    registers: in_view,
                    queues: self.queues_of(index, position),
                    queue_count: kind.map_or(0, |kind| kind.queues() as u64),
                });
            }
        }
        (devices, registers)
    }

    /// Maps those registers, in a row, to the device owner; its section.
    pub(super) fn map_owned_devices(&mut self) -> Result<Option<(usize, Mapping)>, String> {
        let Some(owner) = self.system.roles.devices else { return Ok(None) };
        let (_, registers) = self.owned_devices();
        let (root, reach) = (self.placed[owner].root, self.placed[owner].reach);
        let first = match self.system.instances[owner].is_in_kernel() {
            false => ROLE_DEVICES,
            true => kernel_view(ROLE_DEVICES),
        };
        for (address, page) in (first..).step_by(PAGE_SIZE as usize).zip(&registers) {
            let rights = reach | READ | WRITE;
            self.tables.map(&mut self.memory, root, address, *page, rights)?;
        }
        let size = registers.len() as u64 * PAGE_SIZE;
        let name = descriptor::name("devices");
        Ok(Some((owner, Mapping::memory(name, first, size, true))))
    }
}
