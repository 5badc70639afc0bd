//! Puts stencils together to portals.
//!
//! What is generated follows from a specification (`specification`) and a [`Crossing`] (`plan`), which says
//! who calls whom. There are four kinds of portal: `pair` makes a call portal with
//! its return portal (and the hybrid portals of semaphores), `upcall` what enters a component that
//! runs to completion without a way back, `fault` what calls a pager for an instruction, `short_circuit` and `device` what does its work itself, `process` what a server of processes has. Read `pair`
//! first. `fast_path` has what semaphores do before a call, `float` what users of the floating-point unit do
//! beside it, `space` what two in one page table leave out. They use `code` (the buffer, its labels and holes), `parameters` (the letters) and `frame` (what a
//! call puts on the invocation stack). `links` has the literals of a pair, which are all that a copy of an existing
//! portal needs.

mod code;
mod device;
mod fast_path;
mod fault;
mod float;
mod frame;
mod links;
mod pair;
mod parameters;
mod process;
mod short_circuit;
mod space;
mod upcall;

use crate::plan::{Crossing, SemaphoreOperation};
pub use code::GenerateError;
pub use device::{DeviceOperation, DeviceQueue, device};
pub use fault::{FaultBetween, PagedRange, fault, fault_between};
pub use frame::frame_size;
pub use links::{LITERALS, Links, call_literals, place, return_literals};
pub use pair::{back, call, pair, pair_with_types, semaphore};
pub use process::{ProcessPortal, ProcessServer, process};
pub use short_circuit::{ShortCircuit, short_circuit};
pub use upcall::upcall;

/// What the generator made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Address of the call portal's code: what goes into the portal table.
    pub call: u64,
    /// Address of the return portal's code (zero if there is none).
    pub back: u64,
    /// Bytes used, a multiple of 16.
    pub size: usize,
    /// Where the call enters another component's domain with a fence of translations: bytes from the first; zero: no
    /// fence.
    pub fence: usize,
}
