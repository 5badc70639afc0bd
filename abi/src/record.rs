//! The layout's record: what the host tool laid out, for the components that take over from it.
//!
//! It is one read-only block: a [`Header`], then tables, each a count of entries at an offset from
//! the block's start. Components that hold a role find it as the section `record`.

mod ranges;
mod segments;

pub use ranges::{NO_SECTION, PagedRange, RANGES_DESCRIBED, RANGES_MAXIMUM};
pub use segments::*;

use crate::Space;
use crate::descriptor::{LETTERS_SIZE, NAME_SIZE};
use crate::identifier::{DomainId, INSTANCES_MAXIMUM, InstanceId, RegionId};
use core::ops::RangeInclusive;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First word of a record: "CAIRNREC".
pub const MAGIC: u64 = u64::from_le_bytes(*b"CAIRNREC");

/// Where a table lies in the record.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Table {
    /// Bytes from the start of the record.
    pub offset: u32,
    /// Entries.
    pub count: u32,
}

/// A range of addresses or of numbers.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Range {
    /// First.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// The beginning of a record.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// Bytes of the whole record.
    pub size: u64,
    /// Ticks of the time base in a second.
    pub time_base: u64,
    /// Bits of the machine's ASIDs.
    pub asid_bits: u64,
    /// Context of the hart's supervisor mode at the interrupt controller.
    pub interrupt_context: u64,
    /// Physical memory that nothing uses.
    pub free_memory: Range,
    /// Kernel addresses of portal code that is not used yet.
    pub free_portal_code: Range,
    /// Kernel addresses of page-table pages that are not used yet.
    pub free_page_tables: Range,
    /// Physical address of the rows that say which activations are whose ([`crate::domain::client_row`]).
    pub clients: u64,
    /// Physical address of the first page of the page-table pool.
    pub page_tables_physical: u64,
    /// Thread indexes that are not used yet.
    pub free_threads: Range,
    /// Semaphore indexes that are not used yet.
    pub free_semaphores: Range,
    /// Stack queue indexes that are not used yet.
    pub free_queues: Range,
    /// Activation descriptor indexes that are not used yet.
    pub free_activations: Range,
    /// Address of the nucleus' service table.
    pub services: u64,
    /// Address of the nucleus' trap return.
    pub trap_return: u64,
    /// The portal that an unused index leads to.
    pub no_portal: u64,
    /// Where the nucleus ends the system: what an upcall leads to that a domain does not have.
    pub fatal: u64,
    /// Where it turns the floating-point unit on.
    pub float_first_use: u64,
    /// Entries of a portal table.
    pub table_entries: u64,
    /// 1 in a counting build.
    pub counting: u64,
    /// What the image is called: the hash of its content with zero here.
    pub identifier: u64,
    /// Nanoseconds that a callee may keep a thread which was called home, where its export does not say.
    pub cancelled_for: u64,
    /// Physical address of this record, which the memory manager writes where components are loaded.
    pub record: u64,
    /// The numbers of instances that are for components which are loaded ([`crate::loadable`]). Those before are the description's.
    pub loadable: Range,
    /// Physical addresses of the [shelf](crate::package::Shelf), which nobody writes; empty: the image has none.
    pub shelf: Range,
    /// Physical address of the page of zeros that user mode has instead of a log.
    pub no_log: u64,
    /// Physical address of all logs, one behind the other; zero: nobody reads them.
    pub logs: u64,
    /// [`Instance`]s, by number from 1. Number 0: there is none.
    pub instances: Table,
    /// [`Thread`]s.
    pub threads: Table,
    /// [`Interrupt`]s.
    pub interrupts: Table,
    /// [`Device`]s that reach memory by themselves.
    pub devices: Table,
    /// [`Export`]s.
    pub exports: Table,
    /// [`Method`]s of the exports.
    pub methods: Table,
    /// [`Portal`]s, by client and index.
    pub portals: Table,
    /// [`Activation`]s.
    pub activations: Table,
    /// [`Segment`]s of the instances.
    pub segments: Table,
    /// [`Symbol`]s, by address.
    pub symbols: Table,
    /// Names of symbols and of methods' own errors, as bytes.
    pub symbol_names: Table,
    /// A [`Slot`](crate::loadable::Slot) for each instance, by number from 1, if components can be loaded.
    pub slots: Table,
    /// [`PagedRange`]s.
    pub ranges: Table,
}

/// The floating-point unit is off.
pub const FLOAT_OFF: u16 = 0;
/// It is on from its first use in a call, or by a thread, on.
pub const FLOAT_FIRST_USE: u16 = 1;
/// It is on when a call begins.
pub const FLOAT_START: u16 = 2;
/// It runs processes, which use the unit where there is one; it does not itself.
pub const FLOAT_PROCESSES: u16 = 3;

/// Most instances with a processor budget, and threads of one.
pub const BUDGETS_MAXIMUM: usize = 32;
/// See [`BUDGETS_MAXIMUM`].
pub const BUDGET_THREADS_MAXIMUM: u32 = 16;

/// Names that instances register at run time: places in the tables of the portal manager and of the name server.
pub const NAMES_MAXIMUM: usize = INSTANCES_MAXIMUM;
/// Those that each instance has if there are enough for all, beside those that are kept for it.
pub const NAMES_EACH: usize = 8;

/// Restart policy: never.
pub const RESTART_NEVER: u32 = 0;
/// Restart policy: always.
pub const RESTART_ALWAYS: u32 = 1;
/// Restart policy: after a fault.
pub const RESTART_ON_FAULT: u32 = 2;

/// What the times of an export may be, in nanoseconds: its longest execution, and the longest time until a call is back. Beyond
/// that a callee might as well declare none.
pub const LONGEST: RangeInclusive<u64> = 1_000..=1_000_000_000_000;
/// How long it may keep a thread that was called home.
pub const CANCELLED: RangeInclusive<u64> = 1_000_000..=10_000_000_000;
/// After how long an instance can be ended that nobody needs.
pub const IDLE_STOP: RangeInclusive<u64> = 1_000_000..=86_400_000_000_000;

/// See [`Instance::callers_wait`].
pub const CALLERS_WAIT_ONCE: u8 = 2;

/// An instance and its domain.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Instance {
    /// Name in the description.
    pub name: [u8; NAME_SIZE],
    /// Its number.
    pub number: InstanceId,
    /// Its domain.
    pub domain: DomainId,
    /// Whether its domain may use the floating-point unit, since one of its instances is built for it; one of the `FLOAT_*`.
    pub float: u16,
    /// 1: it is started by the first call into it.
    pub on_demand: u8,
    /// 1: until it says that it serves, callers wait; [`CALLERS_WAIT_ONCE`]: in this life only, with which a move ends.
    pub callers_wait: u8,
    /// Priority of its first thread.
    pub priority: u32,
    /// One of the `RESTART_*` policies.
    pub restart: u32,
    /// 1: the system halts when it faults.
    pub essential: u32,
    /// Its first thread, or `u32::MAX`.
    pub first_thread: u32,
    /// Quota of threads.
    pub threads: u32,
    /// Quota of semaphores.
    pub semaphores: u32,
    /// Quota of locks.
    pub locks: u32,
    /// Activations that each of its clients has for itself.
    pub per_client: u32,
    /// Stack group, or `u32::MAX`.
    pub stack_group: u32,
    /// The highest priority at which it is cleaned up and started again.
    pub recovery_priority: u32,
    /// Its first export in the table of exports.
    pub first_export: u32,
    /// Its exports, which follow each other there.
    pub export_count: u32,
    /// Not 0: it runs to completion, on one stack, with interrupts off; 2: as all that do it is in the kernel domain, so that
    /// nobody masks them one by one.
    pub run_to_completion: u8,
    /// 1: it runs in the kernel domain.
    pub in_kernel: u8,
    /// Its region.
    pub region: RegionId,
    /// The instance that stands for all of its domain, which end and start again together: itself if it is alone.
    pub leader: InstanceId,
    /// The one of them behind it; 0: none. The leader is the first.
    pub next_fellow: InstanceId,
    /// How many components it may have loaded at a time, with all that they load in turn.
    pub children: u32,
    /// The instance that had it loaded, which pays for it; 0: the description has it.
    pub parent: InstanceId,
    /// It is no instance yet, but the content that this one will have (live replacement), or had; 0: it is one.
    pub successor_of: InstanceId,
    /// Who stands between it and its clients from the start; 0: nobody.
    pub wrapped_by: InstanceId,
    /// Of one that moves: the number of its other place, and of that one its number; 0: it stays where it is. The other place is laid
    /// out as an instance is, asleep, and never is one: its record says `successor_of`. A move exchanges what both records say of a place.
    pub other_place: InstanceId,
    /// Of one that moves into the page table of another, and of its other place: that other; 0: it does not.
    pub host: InstanceId,
    /// 1: others move into its page table.
    pub has_guests: u8,
    /// 1: of the two places of one that moves this is not the one where it begins.
    pub is_away: u8,
    /// If it is started by a call: after so many nanoseconds in which nobody needed it it is ended, or zero.
    pub idle_stop: u64,
    /// Quota of memory, bytes.
    pub memory: u64,
    /// Memory in use, bytes, page tables not counted.
    pub memory_used: u64,
    /// Where its log is in the view of all logs.
    pub log: u64,
    /// Bytes of its log; zero: it has none.
    pub log_size: u64,
    /// Its part of the time, in percent; zero: it declares none.
    pub share: u64,
    /// Nanoseconds in each of which its threads run at most as many as `cpu_budget`; zero: for as long as they want.
    pub cpu_period: u64,
    /// See `cpu_period`.
    pub cpu_budget: u64,
    /// First address of its region.
    pub start_address: u64,
    /// What the portal manager keeps for it beside its equal part, so that it gets all that the description promises: blocks of
    /// portals, and the portals in them.
    pub blocks: u64,
    pub portals: u64,
    /// The places of the names that it may register at run time: below [`NAMES_MAXIMUM`], and no other instance's.
    pub names: Range,
    /// Most sections made at run time that it maps at a time.
    pub sections: u64,
    /// Its address space.
    pub space: Space,
    /// Kernel address of its domain's portal table.
    pub table: u64,
    /// Kernel address of the page-table entry of its region's first page; those of the next pages
    /// follow.
    pub entries: u64,
    /// Bytes of its region that `entries` covers, as far as its devices.
    pub entries_span: u64,
    /// Page tables in use.
    pub page_tables: u64,
    /// Bytes of the portal code that the description gives it.
    pub portal_code: u64,
    /// Entry of its first thread.
    pub main: u64,
    /// Address of its return stub.
    pub stub: u64,
    /// First address of the image of the package that is its content; 0: its content is the description's, whose functions have names in the record.
    pub package: u64,
    /// The first 16 digits of that package's hash.
    pub package_hash: u64,
    /// Stack top of its first thread.
    pub stack: u64,
}

impl Instance {
    /// Whether it may use the floating-point unit itself.
    pub const fn has_float(&self) -> bool {
        matches!(self.float, FLOAT_FIRST_USE | FLOAT_START)
    }

    /// Whether there is an instance at this place of the record.
    pub const fn is_there(&self) -> bool {
        self.number.0 != 0
    }

    /// Whether it is none, but where one can be that moves.
    pub const fn is_other_place(&self) -> bool {
        self.other_place.0 != 0 && self.successor_of.0 == self.other_place.0
    }

    /// Whether there is one that the description has: none that was loaded, no content of another, and no other place of one.
    pub const fn is_described(&self) -> bool {
        self.is_there() && self.parent.0 == 0 && self.successor_of.0 == 0
    }
}

/// A thread that exists from the start.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Thread {
    /// Its index.
    pub index: u32,
    /// The instance in which it begins.
    pub instance: InstanceId,
    /// The domain of that.
    pub domain: DomainId,
    /// Its priority.
    pub priority: u32,
    /// 1: the idle thread.
    pub idle: u32,
}

/// A device's interrupt.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Interrupt {
    /// Source number at the interrupt controller.
    pub source: u32,
    /// Index of the semaphore that it signals.
    pub semaphore: u32,
    /// The driver.
    pub instance: InstanceId,
    /// Index of the semaphore's first portal in the driver's table; behind these portals lies the dispatcher's acknowledgement.
    pub portal: u16,
    /// Not used.
    pub reserved: [u16; 2],
}

/// A device that reaches memory by itself, for the device owner.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Device {
    /// Its driver.
    pub instance: InstanceId,
    /// Its place among the driver's devices.
    pub position: u16,
    /// The kind of virtio device that it has to be ([`VirtioKind::number`](crate::device::VirtioKind::number)); 0: it is none, and
    /// cannot be reset.
    pub kind: u32,
    /// Where its registers lie in the section `devices` of the device owner.
    pub registers: u64,
    /// Where it finds the pages of its queues, one queue's behind the other's.
    pub queues: u64,
    /// How many queues.
    pub queue_count: u64,
}

/// An export of an instance.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Export {
    /// Its name in the component.
    pub name: [u8; NAME_SIZE],
    /// Its interface.
    pub interface: [u8; NAME_SIZE],
    /// The interface's version.
    pub version: u64,
    /// The instance; 0: nobody serves it now.
    pub instance: InstanceId,
    /// 1: an object interface.
    pub is_object: u16,
    /// 1: it came with a successor of the instance, and goes with one that does not serve it.
    pub is_added: u32,
    /// Its first method in the table of methods.
    pub first_method: u32,
    /// Its methods.
    pub method_count: u32,
    /// Longest execution in nanoseconds, or zero.
    pub longest_execution: u64,
    /// Longest time until a call is back in nanoseconds, or zero.
    pub longest_call: u64,
    /// Nanoseconds that it may keep a thread which was called home, or zero: as the header says.
    pub cancelled_for: u64,
    /// Which instances may open it: a bit for each number; all ones: anyone.
    pub open: [u64; INSTANCES_MAXIMUM / 64],
}

/// A method of an export.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Method {
    /// Its name.
    pub name: [u8; NAME_SIZE],
    /// Its parameter letters.
    pub letters: [u8; LETTERS_SIZE],
    /// Kind of value (`descriptor::VALUE_*`).
    pub value: u32,
    /// Its entry point.
    pub entry: u64,
    /// Where in [`Header::symbol_names`] stands what words of it mean: its own errors, `1=NAME,2=NAME`, then of parameters, by the
    /// letter's place, variants of enums, `3:0=NAME`, and integers that are less than a word, `4:u8`.
    pub meanings: u32,
    /// Bytes of it.
    pub meanings_length: u32,
}

/// A portal that the description connected.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Portal {
    /// The instance in whose domain's table it is.
    pub client: InstanceId,
    /// Not used.
    pub reserved: u16,
    /// Its index there.
    pub index: u32,
    /// Index in the table of exports, or `u32::MAX`.
    pub export: u32,
    /// Index of the method in the export.
    pub method: u32,
    /// Its code.
    pub code: u64,
    /// Its code while what it leads to is in its other place, if that moves; 0: it does not.
    pub code_elsewhere: u64,
    /// Its specification, padded with zeros.
    pub specification: [u8; 16],
    /// Stack queue that it takes activations from, or `u64::MAX`.
    pub queue: u64,
}

impl Portal {
    /// Whether this is its code, wherever what it leads to is.
    pub const fn is_code(&self, code: u64) -> bool {
        code != 0 && (code == self.code || code == self.code_elsewhere)
    }
}

/// An activation, from which the stack queues are made again at a restart.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Activation {
    /// Index of its descriptor.
    pub index: u32,
    /// Stack queue, or `u32::MAX` if no client owns it yet.
    pub queue: u32,
    /// Whose stack it is.
    pub instance: InstanceId,
    /// The client of that queue.
    pub client: InstanceId,
    /// Not used.
    pub reserved: u32,
    /// Kernel address of the page-table entry of its first window page.
    pub windows: u64,
}

/// A function of a component.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Symbol {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub size: u32,
    /// Offset of its name in the names.
    pub name: u32,
    /// Bytes of its name.
    pub name_length: u32,
    /// Not used.
    pub reserved: u32,
}
