//! What a call puts on the invocation stack: header, records of windows, saved state.

use super::code::Code;
use super::{Crossing, GenerateError};
use crate::specification::{Specification, Stack, State};
use crate::stencil::{self, Value};
use cairn_abi::address::COPY_STRIDE;
use cairn_abi::float::FLOAT_CELL;
use cairn_abi::thread::{
    FAULT_FRAME, FRAME_ACTIVATION, FRAME_HEADER, KERNEL_CALL_FRAME, LAST_FRAME, MANAGER_FRAME,
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
    frame_size(specification) + below(crossing) + if is_longer { STAMP } else { 0 }
}

/// Whether the frame of a call of the portal manager may lie behind all others.
pub(super) fn fits_behind(specification: &Specification, crossing: &Crossing) -> bool {
    stamped_frame_size(specification, crossing) <= MANAGER_FRAME
}

/// Bytes of the call's time.
const STAMP: i64 = 16;

// A call of who runs to completion does not look whether there is room; there is for so much. A caller in the kernel domain saves the
// most; such a callee has no windows, and no cell.
const _: () = {
    let largest = FRAME_HEADER + STAMP - saved(Stack::RunToCompletion, State::Kernel);
    assert!(largest <= LAST_FRAME, "such a call moves the frame pointer too far");
};

/// Bytes directly below the header for the callee's floating-point registers.
fn cell(crossing: &Crossing) -> i64 {
    if crossing.callee.float.is_on() { FLOAT_CELL } else { 0 }
}

/// The same, or what is passed on of a fault, between components that do not use floating point.
fn below(crossing: &Crossing) -> i64 {
    match crossing.passed_fault() {
        Some(_) => FAULT_FRAME - FRAME_HEADER,
        None => cell(crossing),
    }
}

/// Where the saved stack pointer and registers begin, from the header, or from the cell below it: below the windows' records
/// of two words each (pointer, length).
fn state_offset(specification: &Specification) -> i64 {
    let records = match specification.stack {
        // What is read and written in place is not closed.
        Stack::Kernel => 0,
        _ => -16 * specification.windows() as i64,
    };
    records + saved(specification.stack, specification.state)
}

/// The same without windows.
const fn saved(stack: Stack, state: State) -> i64 {
    match (stack, state) {
        (_, State::Discarded) => 0,
        (_, State::Minimal) => -16,
        (Stack::Kernel, State::Kernel) => -104,
        (_, State::Partial) => -128,
        (_, State::Kernel) => -144,
    }
}

/// What a call's frame holds, for the holes of all stencils that reach into it.
pub(super) fn frame_values(code: &mut Code, specification: &Specification, crossing: &Crossing) {
    let size = stamped_frame_size(specification, crossing);
    let state = state_offset(specification) - below(crossing);
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
    code.value(Value::Caller, crossing.client().0.into());
    code.value(Value::PassedActivation, FRAME_ACTIVATION - size);
    code.value(Value::Fault, FRAME_HEADER - FAULT_FRAME);
    code.value(Value::FaultBelow, FRAME_HEADER - FAULT_FRAME - size);
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

/// No code of the kernel domain changes `gp`, and what leaves it brings it back (the dead entries, too).
pub(super) fn save_global_pointer(
    code: &mut Code,
    specification: &Specification,
) -> Result<(), GenerateError> {
    match specification.stack {
        Stack::Kernel => Ok(()),
        _ => code.emit(&stencil::SAVE_GLOBAL_POINTER),
    }
}

pub(super) fn restore_global_pointer(
    code: &mut Code,
    specification: &Specification,
) -> Result<(), GenerateError> {
    match specification.stack {
        Stack::Kernel => Ok(()),
        _ => code.emit(&stencil::RESTORE_GLOBAL_POINTER),
    }
}
