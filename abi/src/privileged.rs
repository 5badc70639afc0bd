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
