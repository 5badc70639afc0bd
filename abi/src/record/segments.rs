//! Memory of instances.

use crate::identifier::InstanceId;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Content of a segment: machine code.
pub const CONTENT_TEXT: u16 = 0;
/// Constants.
pub const CONTENT_CONSTANTS: u16 = 1;
/// Data.
pub const CONTENT_DATA: u16 = 2;
/// The heap, which begins as zeros and is used from its first address on.
pub const CONTENT_HEAP: u16 = 3;
/// The stack of the first thread: zeros, used from its end down.
pub const CONTENT_STACK: u16 = 4;
/// A stack on which clients' threads run, and on which portals put what they bring.
pub const CONTENT_CLIENT_STACK: u16 = 5;
/// The stack of a thread that the instance started. It lies in data, and no segment is one.
pub const CONTENT_THREAD_STACK: u16 = 6;
/// Addresses without memory, into which the heap or the stack beside them grows while the instance runs. No pages, no flags.
pub const CONTENT_GROWTH: u16 = 7;
/// The same below a stack on which clients' threads run.
pub const CONTENT_CLIENT_GROWTH: u16 = 8;
/// What devices reach by themselves: memory for DMA, and the queues of virtio devices. A life ends with zeros there, since its devices have
/// been reset.
pub const CONTENT_DMA: u16 = 9;

/// Memory of an instance's image, for restarting it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Segment {
    /// The instance.
    pub instance: InstanceId,
    /// What it is for: one of the `CONTENT_*`.
    pub content: u16,
    /// Page-table entry bits of its pages.
    pub flags: u32,
    /// First address.
    pub address: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// Physical address. Zero: the page tables say where each page is.
    pub physical: u64,
    /// Physical address of the initial content, or zero if the initial content is zeros. Of a
    /// segment that is not writable, this is `physical`. If `physical` is zero, the address of a [list](crate::loadable) of copies.
    pub initial: u64,
}
