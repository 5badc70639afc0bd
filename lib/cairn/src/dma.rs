//! Memory that devices reach by themselves, and what a driver does to such a device.
//!
//! A device finds memory at addresses of its own, which need be neither the program's nor those of the machine's memory: each
//! device has its own view of a [`Buffer`]. The driver of a virtio device needs none of them. It names
//! buffers by their offsets, and portals check those (`cairn_abi::device`).

use crate::Error;
use crate::call::{Arguments, Portals};
use crate::environment::{self, startup};
use crate::registers::Registers;
use crate::section::Section;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::device::*;
use core::ops::Deref;

/// The instance's memory for DMA, zeroed at its start, or a part of it. It is read and written as a section is.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    offset: usize,
    section: Section,
}

impl Buffer {
    /// All of it; `None`: the description has no `dma` for this instance.
    pub fn all() -> Option<Buffer> {
        environment::dma_memory().map(|section| Buffer { offset: 0, section })
    }

    /// A part; panics if it is not in this one.
    #[inline(always)]
    #[track_caller]
    pub fn part(&self, offset: usize, size: usize) -> Buffer {
        Buffer { offset: self.offset + offset, section: self.section.part(offset, size) }
    }

    /// A descriptor of it: [`Error::TooLarge`] if it has 64 KiB and more.
    #[inline(always)]
    pub fn descriptor(&self, device_writes: bool, has_next: bool) -> Result<Descriptor, Error> {
        let length = u16::try_from(self.section.size()).map_err(|_| Error::TooLarge)?;
        Ok(Descriptor { offset: self.offset as u32, length, device_writes, has_next })
    }
}

impl Deref for Buffer {
    type Target = Section;
    fn deref(&self) -> &Section {
        &self.section
    }
}

/// A device that reaches memory by itself, as its driver has it.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    position: usize,
    /// Only to be read, if the driver is confined.
    pub registers: Registers,
    /// Those of a virtio device whose kind the description says.
    portals: Option<Portals>,
    device_address: u64,
    queues: Option<Section>,
    queue_count: usize,
}

impl Device {
    /// The device that the description calls `name`: `virtio-blk`, if it stands as `devices = ["virtio-blk"]`. A panic says so if
    /// there is none.
    pub fn named(name: &str) -> Device {
        let position = environment::position_of(name);
        position.and_then(Device::at).unwrap_or_else(|| environment::no_device(name))
    }

    /// The device at `position` of the description's list; `None` if it reaches no memory.
    pub fn at(position: usize) -> Option<Device> {
        let startup = startup();
        let registers = environment::device(position)?;
        let mapping = startup.devices.get(position)?;
        (mapping.device_address != 0).then_some(Device {
            position,
            registers,
            portals: (mapping.device_portal != 0)
                .then_some(Portals::at(mapping.device_portal as u32)),
            device_address: mapping.device_address,
            queues: environment::queues(position),
            queue_count: mapping.queue_count as usize,
        })
    }

    /// Its place in the description's list, by which the device owner knows it.
    pub fn position(&self) -> u64 {
        self.position as u64
    }

    /// Where the device finds a buffer.
    pub fn address_of(&self, buffer: &Buffer) -> u64 {
        self.device_address + buffer.offset as u64
    }

    /// The rings of a queue; `None`: the kind of device has no such queue.
    pub fn rings(&self, queue: usize) -> Option<Section> {
        let at = (queue as u64 * QUEUE_PAGES + 1) * PAGE_SIZE;
        let section = self.queues.filter(|_| queue < self.queue_count)?;
        Some(section.part(at as usize, PAGE_SIZE as usize))
    }

    /// Writes descriptors of a queue, from the one with the number `first` on; none, more than [`POSTED_MAXIMUM`], or one that
    /// is not in the memory for DMA, is [`Error::BadArgument`].
    #[inline(always)]
    pub fn post(&self, queue: usize, first: u16, descriptors: &[Descriptor]) -> Result<(), Error> {
        self.write(DEVICE_POST, queue, first, descriptors)
    }

    /// Writes them, gives the device the chain that begins at `first`, and tells it. Others can do so at the same time.
    #[inline(always)]
    pub fn offer(&self, queue: usize, first: u16, descriptors: &[Descriptor]) -> Result<(), Error> {
        self.write(DEVICE_OFFER, queue, first, descriptors)
    }

    #[inline(always)]
    fn write(
        &self,
        operation: u32,
        queue: usize,
        first: u16,
        descriptors: &[Descriptor],
    ) -> Result<(), Error> {
        if !(1..=POSTED_MAXIMUM).contains(&descriptors.len()) || queue >= self.queue_count {
            return Err(Error::BadArgument);
        }
        let mut arguments = Arguments::new();
        arguments.word(first.into());
        for place in 0..POSTED_MAXIMUM {
            let word = descriptors.get(place).map(|one| one.word().ok_or(Error::BadArgument));
            arguments.word(word.unwrap_or(Ok(0))?);
        }
        let portals = self.portals.ok_or(Error::NotSupported)?;
        let portal = operation + DEVICE_QUEUE_PORTALS * queue as u32;
        portals.call::<8, (), Error>(portal, arguments)
    }

    /// Says that a queue has something. What it has is in memory before the device looks.
    pub fn notify(&self, queue: usize) -> Result<(), Error> {
        self.operate(DEVICE_NOTIFY, [queue as u64])
    }

    /// Why it interrupts, which this acknowledges. A panic says so if the device has stopped, since it met what it does not
    /// understand: until its reset it answers nothing.
    #[inline(always)]
    pub fn acknowledge(&self) -> Result<u32, Error> {
        let reasons = self.registers.read_u32(register::INTERRUPT_STATUS as usize);
        self.operate(DEVICE_ACKNOWLEDGE, [reasons.into()])?;
        if reasons & register::CONFIGURATION_CHANGED != 0 {
            self.still_works();
        }
        Ok(reasons)
    }

    #[cold]
    fn still_works(&self) {
        let status = self.registers.read_u32(register::STATUS as usize);
        if status & register::NEEDS_RESET != 0 {
            panic!(
                "`{}` has stopped: expected requests that its specification allows",
                self.registers.name()
            );
        }
    }

    /// A word of its configuration, at a multiple of 4.
    pub fn configuration(&self, offset: usize) -> u32 {
        self.registers.read_u32(register::CONFIGURATION as usize + offset)
    }

    /// Writes a word of its configuration.
    pub fn configure(&self, offset: usize, word: u32) -> Result<(), Error> {
        self.operate(DEVICE_CONFIGURE, [offset as u64, word.into()])
    }

    #[inline(always)]
    fn operate<const WORDS: usize>(
        &self,
        operation: u32,
        words: [u64; WORDS],
    ) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        words.into_iter().for_each(|word| arguments.word(word));
        let portals = self.portals.ok_or(Error::NotSupported)?;
        portals.call::<3, (), Error>(operation, arguments)
    }
}
