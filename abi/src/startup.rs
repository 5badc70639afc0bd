//! The startup page: an instance's name, resources and argument, read-only at a fixed offset of its region
//! ([`crate::address::STARTUP_OFFSET`]).

use crate::address::STARTUP_OFFSET;
use crate::descriptor::{ARGUMENTS_MAXIMUM, NAME_SIZE};
use crate::identifier::{DomainId, InstanceId};
use crate::process::Given;
use core::mem::offset_of;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First word of a startup page: "CAIRNSTA".
pub const MAGIC: u64 = u64::from_le_bytes(*b"CAIRNSTA");
/// Most devices of an instance.
pub const DEVICES_MAXIMUM: usize = 8;
/// Most sections of an instance.
pub const SECTIONS_MAXIMUM: usize = 16;
/// Most bytes of the argument string.
pub const ARGUMENT_SIZE: usize = 512;

/// Registers of a device, or a shared section, mapped into the instance.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Mapping {
    /// Name in the instance's table of the system description, padded with zeros.
    pub name: [u8; NAME_SIZE],
    /// First address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Of a device with interrupts: index of the first portal of the first one's semaphore. The portal that acknowledges it
    /// (unmasks the source) is behind that semaphore's, then come those of the next interrupt. Zero: it has none.
    pub interrupt_portal: u64,
    /// How many interrupts.
    pub interrupt_count: u64,
    /// 1 if writable.
    pub writable: u64,
    /// Of a device whose driver is confined: index of the first of its portals ([`crate::device`]). Zero: the registers are the
    /// driver's.
    pub device_portal: u64,
    /// Of a device with DMA: the address at which it finds the first byte of the instance's memory for DMA.
    pub device_address: u64,
    /// Of a virtio device whose kind the description says: the pages of its queues in the instance.
    pub queues: u64,
    /// How many queues.
    pub queue_count: u64,
}

impl Mapping {
    /// Memory that is no device's registers.
    pub const fn memory(
        name: [u8; NAME_SIZE],
        address: u64,
        size: u64,
        is_writable: bool,
    ) -> Mapping {
        Mapping {
            name,
            address,
            size,
            interrupt_portal: 0,
            interrupt_count: 0,
            writable: is_writable as u64,
            device_portal: 0,
            device_address: 0,
            queues: 0,
            queue_count: 0,
        }
    }
}

/// The page.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Startup {
    /// [`MAGIC`].
    pub magic: u64,
    /// This instance.
    pub instance: InstanceId,
    /// Its protection domain.
    pub domain: DomainId,
    /// How much further back its portals lie in its domain's table than it was built for: those of the instances before it.
    pub portals_before: u16,
    /// The imports that the description leaves out, a bit for each by its place.
    pub imports_left_out: u16,
    /// Name in the system description, padded with zeros.
    pub name: [u8; NAME_SIZE],
    /// Ticks of the time base in a second.
    pub time_base: u64,
    /// First address of the heap.
    pub heap: u64,
    /// Bytes of the heap.
    pub heap_size: u64,
    /// How often this instance was started before.
    pub generation: u64,
    /// Used entries of `devices`.
    pub device_count: u32,
    /// Used entries of `sections`.
    pub section_count: u32,
    /// First address of the memory for DMA.
    pub dma: u64,
    /// Bytes of it.
    pub dma_size: u64,
    /// Device registers.
    pub devices: [Mapping; DEVICES_MAXIMUM],
    /// Shared sections.
    pub sections: [Mapping; SECTIONS_MAXIMUM],
    /// 1: calls to this instance run to completion, with interrupts off.
    pub run_to_completion: u64,
    /// Where pages that the instance asks for at run time can lie: behind its image, heap and stacks.
    pub run_time_memory: u64,
    /// What the run clock counts in a tick of the time base: 1 where that is the time itself.
    pub run_rate: u64,
    /// Index of the first portal of its import of the interface `Portals`, by which the library makes the semaphores and locks
    /// of statics; zero: it has none.
    pub portal_manager: u64,
    /// The same of the interface `Threads`.
    pub threads: u64,
    /// Most threads at a time, the description's `threads`.
    pub thread_limit: u64,
    /// Words of its log ([`crate::log`]); zero: it has none. The log's own page says no such thing: whoever reads logs writes there, too.
    pub log_words: u64,
    /// What it has for its processes, if it runs some.
    pub processes: Given,
    /// Bytes of addresses from `heap` on into which the heap can grow (`Memory::extend`); at least `heap_size`.
    pub heap_limit: u64,
    /// Index of the first portal of its import of the interface `Memory`; zero: it has none.
    pub memory_manager: u64,
    /// Bytes used in `argument`.
    pub argument_length: u64,
    /// The description's `argument` string, and behind it the arguments that are text.
    pub argument: [u8; ARGUMENT_SIZE],
    /// The arguments that the component declares, in its order. Of text the lower half is its place in the region, the upper one how
    /// many bytes it has.
    pub values: [u64; ARGUMENTS_MAXIMUM],
}

/// The word of an argument that is text: where it is in the region, and in the upper half how many bytes it has. `at` is its place in
/// [`Startup::argument`].
pub const fn text_value(at: usize, length: usize) -> u64 {
    let from = STARTUP_OFFSET as usize + offset_of!(Startup, argument) + at;
    (length as u64) << 32 | from as u64
}

/// What one register holds at the breakpoint of a panic; others say where the message is, in memory of the component
/// ([`PANIC_MESSAGE_REGISTER`](crate::arch::trap::PANIC_MESSAGE_REGISTER)).
pub const PANIC_MARK: u64 = u64::from_le_bytes(*b"PANICKED");
/// Most bytes of a panic's message.
pub const PANIC_MESSAGE_MAXIMUM: usize = 1024;
