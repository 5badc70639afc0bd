//! What a call puts on the invocation stack: header, records of windows, saved state.

use super::Crossing;
use super::code::Code;
use crate::specification::{Specification, Stack, State};
use crate::stencil::{self, Value};
use cairn_abi::address::COPY_STRIDE;
use cairn_abi::float::{FLOAT_BASE_CELL, FLOAT_CELL};
use cairn_abi::thread::{
    FRAME_HEADER, FRAME_SCRATCH, INVOCATION_LIMIT, KERNEL_CALL_FRAME, TRAP_FRAME,
};

/// Bytes by which a call of this specification moves the frame pointer, into a domain without floating point.
pub fn frame_size(specification: &Specification) -> i64 {
    match specification.is_inside_kernel() {
        true => KERNEL_CALL_FRAME,
        false => FRAME_HEADER - state_offset(specification),
    }
}

/// The same with the stamp of an export that declares a longest execution.
pub(super) fn stamped_frame_size(specification: &Specification, crossing: &Crossing) -> i64 {
    // The nucleus takes frames of calls inside the kernel domain off, which have one size.
    let is_longer = crossing.stamps() && !specification.is_inside_kernel();
    frame_size(specification) + cell(crossing) + if is_longer { 16 } else { 0 }
}

/// Bytes directly below the header for the callee's floating-point registers.
fn cell(crossing: &Crossing) -> i64 {
    if crossing.callee.float.is_on() { FLOAT_CELL } else { 0 }
}

/// The last frame of a block: of a call of who runs to completion, which may begin at the end of the half (`stencil_call_push_last`). Above
/// it lie at most the frame of a trap and what a trap's entry writes first; the base frame's cell ends the block.
const _: () = {
    let last = FRAME_HEADER + 144 + 16 + FLOAT_CELL;
    let written = INVOCATION_LIMIT as i64 + last + TRAP_FRAME + FRAME_SCRATCH + 3 * 8;
    assert!(written <= FLOAT_BASE_CELL - FLOAT_CELL, "a frame reaches into the base frame's cell");
};

/// Where the saved stack pointer and registers begin, from the header, or from the cell below it: below the windows' records
/// of two words each (pointer, length).
fn state_offset(specification: &Specification) -> i64 {
    let records = match specification.stack {
        // What is read and written in place is not closed.
        Stack::Kernel => 0,
        _ => -16 * specification.windows() as i64,
    };
    match (specification.stack, specification.state) {
        (_, State::Discarded) => records,
        (_, State::Minimal) => records - 16,
        (Stack::Kernel, State::Kernel) => -104,
        (_, State::Partial) => records - 128,
        (_, State::Kernel) => records - 144,
    }
}

/// What a call's frame holds, for the holes of all stencils that reach into it.
pub(super) fn frame_values(code: &mut Code, specification: &Specification, crossing: &Crossing) {
    let size = stamped_frame_size(specification, crossing);
    let state = state_offset(specification) - cell(crossing);
    code.value(Value::FrameSize, size);
    code.value(Value::FrameSizeNegative, -size);
    code.value(Value::AbortScrubSize, abort_scrub_size(specification));
    code.value(Value::Stamp, FRAME_HEADER - size);
    code.value(Value::State, state);
    code.value(Value::KernelStack, state + 120);
    code.value(Value::Space, state + 128);
    if specification.stack == Stack::Kernel {
        // In the one free word, or where all is saved.
        let place = if specification.state == State::Minimal { 8 } else { 112 };
        code.value(Value::ThreadPointer, state + place);
    }
    code.value(Value::CopiesSize, -(specification.windows() as i64 * COPY_STRIDE as i64));
    code.value(Value::Index, crossing.index as i64);
    code.value(Value::Caller, crossing.caller.instance.0.into());
}

/// Bytes of code with which an abort entry begins and a refused call leaves out.
fn abort_scrub_size(specification: &Specification) -> i64 {
    match specification.state {
        // Into the kernel domain, without its first word.
        State::Minimal => {
            let first = i64::from(specification.stack == Stack::Kernel);
            (stencil::SCRUB_ABORT.code.len() as i64 - first) * 4
        }
        State::Partial | State::Kernel | State::Discarded => 0,
    }
}

/// A slot's number and, below the frame's header and its cell, its record.
pub(super) fn window_values(code: &mut Code, crossing: &Crossing, slot: i64) {
    let record = -16 * (slot + 1) - cell(crossing);
    code.value(Value::WindowSlot, slot);
    code.value(Value::WindowPointer, record);
    code.value(Value::WindowLength, record + 8);
}
