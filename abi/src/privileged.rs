//! The privileged short-circuit portals: operations of services that need privilege.
//!
//! Each has a fixed index below [`crate::domain::PORTAL_FIRST_IMPORT`], is present only in the
//! portal table of the component that it is granted to, and checks its arguments.

/// Scheduler: run another thread. `a2` thread index, `a0` and `a1` become its `a0` and `a1`
/// unless a trap stopped it. Does not return; if the index is bad, the caller faults.
pub const PORTAL_SWITCH: usize = 4;
/// Scheduler: set up a thread. `a0` thread index, `a1` domain, `a2` entry, `a3` stack pointer,
/// `a4` argument, `a5` link (return address).
pub const PORTAL_SET_UP_THREAD: usize = 5;
/// Scheduler: the next timer interrupt. `a0` absolute time in ticks; all ones: none.
pub const PORTAL_SET_TIMER: usize = 6;
/// In the kernel domain, a word that calls jump to whose index is in `t0`.
pub const PORTAL_KERNEL_CALL: usize = 7;
/// Supervisor: unwind. `a0` thread index, `a1` offset of a frame's header in the block: the frame
/// returns into a dead domain and becomes an error return.
pub const PORTAL_UNWIND: usize = 8;
/// Supervisor: a domain dies or lives. `a0` domain, `a1` 0 or 1.
pub const PORTAL_SET_ALIVE: usize = 9;
/// Memory manager: translation fence. `a0` address (0: all), in all address spaces.
pub const PORTAL_FENCE_TRANSLATION: usize = 10;
/// Portal manager: instruction fence.
pub const PORTAL_FENCE_INSTRUCTION: usize = 11;
/// Idle: wait for an interrupt.
pub const PORTAL_WAIT: usize = 12;
/// Supervisor: what the firmware does for it. `a0` 0: halt, `a1` exit status; 1: reboot; 2: print the byte in `a1`.
pub const PORTAL_FIRMWARE: usize = 13;
/// Supervisor: divert. `a0` thread index, `a1` offset of a frame's header in the block: the thread faults when it
/// returns through this frame of a call. If this is the trap frame of such a fault, the thread goes on at the address that
/// it would have returned to.
pub const PORTAL_DIVERT: usize = 14;
/// Supervisor: refuse. `a0` thread index, `a1` offset of a trap frame's header in the block: the call at which the thread
/// stands does not begin, and answers [`Cancelled`](crate::error::Error::Cancelled). For a stopped thread that waits for a
/// stack of its callee.
pub const PORTAL_REFUSE: usize = 15;

// What a server of processes has ([`crate::process`]), at the same indexes as others have those above. Each answers a status.

/// The calling thread, which must have begun in the server and be in no call, becomes the carrier: where the server is entered by a call
/// of a process (`a0`), by an exception (`a1`), by an interrupt (`a2`).
pub const PORTAL_PROCESS_BEGIN: usize = 4;
/// `a0`: number of the address space that a return enters from now on.
pub const PORTAL_PROCESS_SELECT: usize = 5;
/// `a0`: number of an entry of all leaves, `a1`: what it becomes: not valid, or a page of the server's memory for user mode.
pub const PORTAL_PROCESS_MAP: usize = 6;
/// `a0`: number of the first of several entries of all leaves, one behind the other, `a1`: how many, 1 to
/// [`MAPPED_MAXIMUM`](crate::process::MAPPED_MAXIMUM); what they become is in the status page, from
/// [`STATUS_ENTRIES`](crate::process::STATUS_ENTRIES) on: each a page of the server's memory, valid or not, and becomes one for user
/// mode. The last one is written first: of what is refused, those behind it are written already.
pub const PORTAL_PROCESS_MAP_SEVERAL: usize = 13;
/// `a0`: number of an entry of all roots and directories, `a1`: number of the table that it leads to, which is of the next kind; or 0: none.
pub const PORTAL_PROCESS_LINK: usize = 8;
/// `a0`: number of a run of 64 entries of the pool, which becomes zero.
pub const PORTAL_PROCESS_CLEAR: usize = 9;
/// `a0`: number of an address space, `a1`: an address in it whose translation may have changed; or 0: all.
pub const PORTAL_PROCESS_FENCE: usize = 10;
/// What the process has in the floating-point unit: `a0` 0: into the status page; 1: from there; 2: nothing, so that its first use comes
/// to the server; else: again what it had before nothing. Absent where harts have no such unit.
pub const PORTAL_PROCESS_FLOAT: usize = 12;
/// Of another thread of the server: the process that the carrier was interrupted in is left for the server.
/// [`WouldBlock`](crate::error::Error::WouldBlock): it is in none.
pub const PORTAL_PROCESS_INTERRUPT: usize = 11;
