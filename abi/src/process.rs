//! Processes: programs in address spaces of their own, run by one thread of a component, their *server* (`docs/processes.md`).
//!
//! The thread is the server's *carrier*. Two frames lie on its invocation stack for good: the *process frame*, on top while a process
//! runs, and the *server frame*, on top while the server does. So whatever a process traps by leads into the server with all
//! registers in place, and the server goes on with a process by index 0, which its own frame gives that meaning.
//!
//! What no register can carry goes through the *status page*: the last one of the server's address space, so that its upper half is reached
//! from register zero. The server writes it, and nothing that is trusted believes what it says. Behind it in the kernel domain lie
//! the *cells*, which only portal code reaches, and the *pool*: page tables, first the roots of the address spaces (each is
//! selected by its number), then directories, then leaves. The level of a table is its place, so what an entry means to the hardware is
//! what it was checked for.

use crate::address::PAGE_SIZE;
use crate::domain::{DOMAINS_MAXIMUM, Tables};
use crate::float::{FLOAT_CELL, FLOAT_WORDS};
use crate::thread::{FRAME_HEADER, FRAME_SCRATCH, TRAP_FRAME};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The status page, as the server has it.
pub const STATUS_PAGE: u64 = 0u64.wrapping_sub(PAGE_SIZE);

/// From the end of the status page: where the process goes on. A trap writes it, and a return reads it.
pub const STATUS_PC: i64 = -2048;
/// `t0` of the process, read by a return: the server's own is the index of that.
pub const STATUS_T0: i64 = -2040;
/// The cause of an exception of a process that is no call, written...
pub const STATUS_CAUSE: i64 = -2032;
/// ... with its value.
pub const STATUS_VALUE: i64 = -2024;
/// Not zero: instead of going on with a process, the server is entered for an interrupt. Its threads write it.
pub const STATUS_PENDING: i64 = -2016;
/// Floating-point registers `f0` to `f31` and `fcsr`, of [`PORTAL_PROCESS_FLOAT`](crate::privileged::PORTAL_PROCESS_FLOAT).
pub const STATUS_FLOAT: i64 = -2008;
/// From here on the page is the server's alone...
pub const STATUS_FREE: i64 = STATUS_FLOAT + FLOAT_WORDS as i64 * 8;
/// ... up to the entries of [`PORTAL_PROCESS_MAP_SEVERAL`](crate::privileged::PORTAL_PROCESS_MAP_SEVERAL).
pub const STATUS_ENTRIES: i64 = -8 * MAPPED_MAXIMUM;
/// Most entries that it writes: as long as that takes, no interrupt is taken.
pub const MAPPED_MAXIMUM: i64 = 16;

/// From the same address in the kernel domain, where the cells begin: the server's space...
pub const CELL_SERVER: i64 = 0;
/// ... and that of the process which a return enters.
pub const CELL_PROCESS: i64 = 8;
/// The header of the carrier's server frame; zero: there is no carrier yet.
pub const CELL_CARRIER: i64 = 16;
/// Where the server is entered by an `ecall` of a process...
pub const CELL_CALL: i64 = 24;
/// ... by an exception of one...
pub const CELL_FAULT: i64 = 32;
/// ... and because of [`STATUS_PENDING`], or [`PORTAL_PROCESS_INTERRUPT`](crate::privileged::PORTAL_PROCESS_INTERRUPT).
pub const CELL_INTERRUPT: i64 = 40;
/// Where the cell of the processes' floating-point registers ends ([`crate::float`]).
pub const CELL_FLOAT: i64 = 512;
const _: () = assert!(CELL_INTERRUPT + 8 <= CELL_FLOAT - FLOAT_CELL);

/// From the base frame's header to that of the process frame.
pub const PROCESS_FRAME: i64 = FRAME_HEADER;
/// From there to the server frame's: a trap frame of a process, and what the trap entry notes above it, lie between.
pub const SERVER_FRAME: i64 = TRAP_FRAME + FRAME_SCRATCH + 3 * 8;
const _: () = assert!(SERVER_FRAME % 16 == 0);
/// No call's frame is so short: where a trap frame lies on one of this length, it is a process' that was interrupted, whoever has the
/// thread's block by then.
const _: () = assert!(PROCESS_FRAME < FRAME_HEADER + 16);

/// Most address spaces, directories or leaves of a server. Spaces have address-space identifiers behind those of all domains.
pub const TABLES_MAXIMUM: u64 = 4096;
/// The first address-space identifier of a process: those before are domains'.
pub const FIRST_IDENTIFIER: u64 = DOMAINS_MAXIMUM as u64;
/// Bytes that [`PORTAL_PROCESS_CLEAR`](crate::privileged::PORTAL_PROCESS_CLEAR) clears.
pub const CLEARED: u64 = 512;

/// Bytes before a server's pool: its status page, its cells, the block of its processes.
pub const fn before_pool(tables: Tables) -> u64 {
    2 * PAGE_SIZE + tables.block_size().next_multiple_of(PAGE_SIZE)
}

/// What a server has been given, in its startup page; all zero: it is no server of processes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Given {
    /// Physical address of its processes' memory...
    pub memory: u64,
    /// ... and bytes.
    pub memory_size: u64,
    /// Physical address of the pool.
    pub tables: u64,
    /// What is in it.
    pub pool: Pool,
}

/// How many page tables a server has of each kind, in their order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Pool {
    /// Address spaces: roots.
    pub spaces: u64,
    /// Tables that roots lead to, of entries of 2 MiB each.
    pub directories: u64,
    /// Tables that directories lead to, of entries of a page each.
    pub leaves: u64,
}

impl Pool {
    /// All tables.
    pub const fn tables(self) -> u64 {
        self.spaces + self.directories + self.leaves
    }

    /// Bytes of all tables.
    pub const fn size(self) -> u64 {
        self.tables() * PAGE_SIZE
    }

    /// The first directory's number.
    pub const fn first_directory(self) -> u64 {
        self.spaces
    }

    /// The first leaf's number.
    pub const fn first_leaf(self) -> u64 {
        self.spaces + self.directories
    }
}
