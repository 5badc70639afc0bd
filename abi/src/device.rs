//! Devices that reach memory by themselves (DMA), and how a driver is kept from making one reach foreign memory.
//!
//! No IOMMU is needed for devices whose commands are lists of *descriptors* (virtio, version 1, section 2.7) and whose
//! payload holds no addresses. The driver of such a device is *confined*: it reads the registers and cannot write them. For
//! each queue there are [`QUEUE_PAGES`] pages: the table of descriptors, which the driver can only read, and the rings, which
//! are the driver's. It writes descriptors by portals that check them ([`Descriptor`]), two for each queue, behind those by
//! which it writes the registers that a driver needs. One that is trusted with all memory has the same portals, and may write
//! all of that itself.

use crate::address::PAGE_SIZE;

mod found;

pub use found::Found;

/// Kinds of virtio devices whose payload holds no addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VirtioKind {
    /// A network card (virtio 1.2, section 5.1).
    Network,
    /// A disk (section 5.2).
    Block,
    /// A console (section 5.3).
    Console,
    /// A source of random bytes (section 5.4).
    Random,
}

impl VirtioKind {
    /// All of them.
    pub const ALL: [VirtioKind; 4] =
        [VirtioKind::Network, VirtioKind::Block, VirtioKind::Console, VirtioKind::Random];

    /// Its number in the device's register (virtio 1.2, section 5).
    pub const fn number(self) -> u32 {
        match self {
            VirtioKind::Network => 1,
            VirtioKind::Block => 2,
            VirtioKind::Console => 3,
            VirtioKind::Random => 4,
        }
    }

    /// Its name in descriptions, behind `virtio-`.
    pub const fn name(self) -> &'static str {
        match self {
            VirtioKind::Network => "net",
            VirtioKind::Block => "blk",
            VirtioKind::Console => "console",
            VirtioKind::Random => "rng",
        }
    }

    /// Bytes of its own part of the registers (virtio 1.2, sections 5.1.4, 5.2.4, 5.3.4, 5.4.4). Behind them may be nothing, so that
    /// a store there would be a fault of whoever makes it.
    pub const fn configuration_size(self) -> u64 {
        match self {
            VirtioKind::Network => 24,
            VirtioKind::Block => 72,
            VirtioKind::Console => 12,
            VirtioKind::Random => 0,
        }
    }

    /// The descriptors of each of its queues, a power of two. A device that has less in a queue is not supported.
    pub const fn descriptors(self) -> u64 {
        match self {
            VirtioKind::Network | VirtioKind::Block => QUEUE_DESCRIPTORS,
            VirtioKind::Console => 16,
            VirtioKind::Random => 8,
        }
    }

    /// The queues that its driver uses.
    pub const fn queues(self) -> usize {
        match self {
            VirtioKind::Network | VirtioKind::Console => 2,
            VirtioKind::Block | VirtioKind::Random => 1,
        }
    }
}

/// Most queues of a device.
pub const DEVICE_QUEUES_MAXIMUM: usize = 2;
/// Pages of a queue: the table of descriptors, then the rings.
pub const QUEUE_PAGES: u64 = 2;
/// Most descriptors of a queue.
pub const QUEUE_DESCRIPTORS: u64 = 128;
/// Bytes of a descriptor: an address, 8 bytes, a length, 4, flags, 2, and the number of the next one, 2 (virtio 1.2, section
/// 2.7.5). The next of each is the one behind it, of the last one the first, from the layout on; no portal ever writes that.
pub const DESCRIPTOR_SIZE: u64 = 16;
/// From a queue's rings: what the driver offers the device (section 2.7.6); where its index and its entries are.
pub const AVAILABLE_RING: u64 = 0;
/// See [`AVAILABLE_RING`]: how many entries were ever offered, 2 bytes.
pub const AVAILABLE_INDEX: u64 = AVAILABLE_RING + 2;
/// See [`AVAILABLE_RING`]: the first descriptors of what was offered, 2 bytes each.
pub const AVAILABLE_ENTRIES: u64 = AVAILABLE_RING + 4;
/// From a queue's rings: what the device has done (section 2.7.8).
pub const USED_RING: u64 = 1024;
const _: () = {
    // A portal writes so many descriptors from the last one on.
    assert!((QUEUE_DESCRIPTORS + POSTED_MAXIMUM as u64 - 1) * DESCRIPTOR_SIZE <= PAGE_SIZE);
    assert!(
        6 + 2 * QUEUE_DESCRIPTORS <= USED_RING
            && USED_RING + 6 + 8 * QUEUE_DESCRIPTORS <= PAGE_SIZE
    );
};

/// Most memory for DMA of an instance.
pub const DMA_MAXIMUM: u64 = 16 << 20;

/// Bytes behind an instance's memory for DMA of `size` bytes that nothing uses. A device may read a descriptor while it is
/// written: the address that was there before with the length that is there now, or the other way round. A length is less than
/// 64 KiB and no longer than all of the memory, so what both lead to ends here.
pub const fn dma_margin(size: u64) -> u64 {
    if size < 1 << 16 { size } else { 1 << 16 }
}

/// A driver's portals of a virtio device, from the first; what they take begins in `a1`, as with methods of an interface.
/// Writes the register that says that a queue has something. `a1` the queue.
pub const DEVICE_NOTIFY: u32 = 0;
/// Writes the register that acknowledges interrupts. `a1` the bits.
pub const DEVICE_ACKNOWLEDGE: u32 = 1;
/// Writes a word of the device's configuration. `a1` the offset, a multiple of 4; `a2` the word.
pub const DEVICE_CONFIGURE: u32 = 2;
/// Writes descriptors of queue 0. `a1` the first descriptor, the others what to write there and behind it
/// ([`Descriptor::word`]), up to a word of 0 that is not the first.
pub const DEVICE_POST: u32 = 3;
/// Does so, puts the first one into the ring of what is offered, and says that the queue has something. No other thread can come
/// in between.
pub const DEVICE_OFFER: u32 = 4;
/// From the two of a queue to those of the next one.
pub const DEVICE_QUEUE_PORTALS: u32 = 2;

/// How many portals a driver has of a device.
pub const fn device_portals(queues: usize) -> usize {
    DEVICE_POST as usize + DEVICE_QUEUE_PORTALS as usize * queues
}
/// Most descriptors that are written at a time.
pub const POSTED_MAXIMUM: usize = 6;

/// What a descriptor shall say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Where the buffer begins, from the first byte of the instance's memory for DMA.
    pub offset: u32,
    /// Its bytes, at least 1.
    pub length: u16,
    /// The device writes it; else the device reads it.
    pub device_writes: bool,
    /// The descriptor behind this one belongs to the same buffer.
    pub has_next: bool,
}

/// The flag of a descriptor: another one follows (virtio 1.2, section 2.7.5).
const NEXT: u64 = 1;
/// The flag: the device writes.
const WRITE: u64 = 2;

impl Descriptor {
    /// The word for the portal: the length in bits 0 to 15, the flags in bits 16 and 17, the offset in bits 40 to 63. So no other
    /// flag can be said. `None`: the offset has more than 24 bits, or the length is zero, which would end the list.
    pub const fn word(self) -> Option<u64> {
        if self.offset as u64 >= 1 << 24 || self.length == 0 {
            return None;
        }
        let flags =
            if self.has_next { NEXT } else { 0 } | if self.device_writes { WRITE } else { 0 };
        Some(self.length as u64 | flags << 16 | (self.offset as u64) << 40)
    }
}

/// Those of a post's words that are descriptors: the first, and what is behind it up to a word of 0.
pub fn posted(words: &[u64]) -> &[u64] {
    let behind = words.iter().skip(1).position(|word| *word == 0);
    &words[..behind.map_or(words.len(), |count| count + 1)]
}

/// Whether what a word names ends in memory for DMA of `size` bytes. No portal writes another one.
pub const fn is_lawful(word: u64, size: u64) -> bool {
    (word >> 40) + (word & 0xffff) <= size
}

/// Registers of virtio devices behind memory (virtio 1.2, section 4.2.2), offsets.
pub mod register {
    /// "virt".
    pub const MAGIC: u64 = 0x00;
    /// What [`MAGIC`] reads.
    pub const MAGIC_VALUE: u32 = 0x7472_6976;
    /// 2; devices of before version 1 have 1.
    pub const VERSION: u64 = 0x04;
    /// The kind of device; 0: nothing is plugged in.
    pub const DEVICE: u64 = 0x08;
    /// Features that the device offers, those 32 that are selected.
    pub const DEVICE_FEATURES: u64 = 0x10;
    /// Selects them.
    pub const DEVICE_FEATURES_SELECT: u64 = 0x14;
    /// Features that the driver takes.
    pub const DRIVER_FEATURES: u64 = 0x20;
    /// Selects them.
    pub const DRIVER_FEATURES_SELECT: u64 = 0x24;
    /// Selects a queue.
    pub const QUEUE_SELECT: u64 = 0x30;
    /// Most descriptors of the queue; 0: there is none.
    pub const QUEUE_MAXIMUM: u64 = 0x34;
    /// Its descriptors.
    pub const QUEUE_SIZE: u64 = 0x38;
    /// 1: it is in use.
    pub const QUEUE_READY: u64 = 0x44;
    /// A queue has something.
    pub const QUEUE_NOTIFY: u64 = 0x50;
    /// Why the device interrupts.
    pub const INTERRUPT_STATUS: u64 = 0x60;
    /// Of the reasons: the configuration has changed, or the status (virtio 1.2, section 4.2.2).
    pub const CONFIGURATION_CHANGED: u32 = 1 << 1;
    /// Acknowledges that.
    pub const INTERRUPT_ACKNOWLEDGE: u64 = 0x64;
    /// The state of the device; writing 0 resets it.
    pub const STATUS: u64 = 0x70;
    /// Of the status: the device has met an error from which only a reset leads back (section 2.1).
    pub const NEEDS_RESET: u32 = 1 << 6;
    /// Physical address of the table of descriptors, low half; the high one is behind it, here as below.
    pub const QUEUE_DESCRIPTORS: u64 = 0x80;
    /// Of the ring of what is offered.
    pub const QUEUE_AVAILABLE: u64 = 0x90;
    /// Of the ring of what is done.
    pub const QUEUE_USED: u64 = 0xa0;
    /// The device's own part.
    pub const CONFIGURATION: u64 = 0x100;
}
