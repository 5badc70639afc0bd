//! What the layout leaves for components that are loaded while the system runs: for each *loadable number*, of an instance, its
//! domain and its region, a place in every table of the record, and page tables. How many numbers there are the description says by
//! `children`.
//!
//! Whoever makes an instance (the memory manager) fills its places in, and empties them when it retires. They change only while
//! no other component was told of the number, or after all have forgotten it; see [`Slot`].

use crate::descriptor::EXPORTS_MAXIMUM;
use crate::record::{Activation, Instance};
use crate::{address, domain};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Exports of each.
pub const EXPORTS_EACH: u32 = EXPORTS_MAXIMUM as u32;
/// Methods of all of its exports.
pub const METHODS_EACH: u32 = 64;
/// Parts of its memory that the record tells apart, but for its clients' stacks: those of its image, its heap, the stack of its first
/// thread.
pub const SEGMENTS_EACH: u32 = 24 + 1 + 1;
/// Stacks for its clients.
pub const CLIENT_STACKS_EACH: u32 = ACTIVATIONS_EACH - 1;
/// Stacks: that of its first thread, and the others for its clients.
pub const ACTIVATIONS_EACH: u32 = 8;
/// Bytes of what the words of its methods mean.
pub const TEXT_EACH: u32 = 1024;
/// Leaf page tables: so many times 2 MiB its image, heap, stacks and what it gets at run time have of its region, or as many as an
/// instance that a package replaces.
pub const LEAVES_EACH: u64 = 4;
/// Sections made at run time that it maps at a time at most, each with a page table that is left for it.
pub const SECTIONS_EACH: u64 = 1;
/// Bytes of its log, if logs are read.
pub const LOG_EACH: u64 = address::PAGE_SIZE;
/// Bytes of portal code: the entries of its domain for exceptions and interrupts, its connections, and what it opens.
pub const PORTAL_CODE_EACH: u64 = 32 << 10;

/// Some entries of a table that follow each other.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Entries {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl Entries {
    /// Those of these places; none, if the last is before the first.
    pub const fn of(range: core::ops::Range<usize>) -> Entries {
        let count = range.end.saturating_sub(range.start);
        Entries { first: range.start as u32, count: count as u32 }
    }

    /// The first of them, and one past the last, as places in a table.
    pub const fn range(self) -> core::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// The places of a number in the tables of the record, used or not. There is one for each number of an instance from 1 on, those of
/// the description too, whose places are as many as it has, and room for what a successor that the description knows serves beside: when it
/// retires, another can come there. Where nothing is loadable, there is none.
///
/// In a place that is not used the number of the instance is 0. Of an [`Instance`] there stands all the same what belongs to the
/// number: domain, region, addresses, space, table, page-table entries, log, names and sections.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Slot {
    /// Of the table of exports.
    pub exports: Entries,
    /// Of the methods.
    pub methods: Entries,
    /// Of the segments: its content, which a successor replaces.
    pub segments: Entries,
    /// Of the segments: its clients' stacks and what its devices reach, which stay.
    pub stacks: Entries,
    /// Of the activations.
    pub activations: Entries,
    /// Bytes of the names of symbols.
    pub text: Entries,
}

/// The address of the kernel's alias of the top page of an activation's stack.
pub const fn stack_alias(activation: u32) -> u64 {
    address::STACK_ALIASES + activation as u64 * address::PAGE_SIZE
}

/// The words of an activation's descriptor, by their offsets, but for the one that says which is the next: where the windows'
/// entries are says where the stack is.
pub const fn descriptor(instance: &Instance, activation: &Activation) -> [(i64, u64); 4] {
    let page = activation.windows.wrapping_sub(instance.entries) / 8;
    let window = instance.start_address + page * address::PAGE_SIZE;
    let top = window - address::ACTIVATION_WINDOWS + address::ACTIVATION_STACK_TOP;
    let alias = stack_alias(activation.index).wrapping_sub(top - address::PAGE_SIZE);
    [
        (domain::ACTIVATION_STACK, top),
        (domain::ACTIVATION_ALIAS, alias),
        (domain::ACTIVATION_WINDOW_ENTRY, activation.windows),
        (domain::ACTIVATION_WINDOW, window),
    ]
}
