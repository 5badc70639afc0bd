//! P and V where they need no call.

use super::GenerateError;
use super::code::Code;
use super::parameters::leave_first;
use crate::plan::SemaphoreOperation;
use crate::stencil::{self, Label, Stencil};

/// P or V if it needs no call.
pub(super) fn fast_path(
    code: &mut Code,
    operation: SemaphoreOperation,
    from_kernel: bool,
    is_limited: bool,
) -> Result<(), GenerateError> {
    let leave = |code: &mut Code, end: &Stencil| match from_kernel || is_limited {
        true => leave_first(code, from_kernel),
        false => code.emit(end),
    };
    // Words that are never executed put the ends where they need no instruction to lie in one line
    // (`Code::leave`), also that of the slow path, which has the same code for P and V.
    match operation {
        SemaphoreOperation::P => {
            code.emit(&stencil::SEMAPHORE_P)?;
            leave(code, &stencil::SEMAPHORE_LEAVE)?;
            code.zeros(2)
        }
        SemaphoreOperation::V => {
            code.emit(&stencil::SEMAPHORE_V)?;
            leave(code, &stencil::SEMAPHORE_LEAVE)?;
            code.zeros(1)?;
            code.label(Label::Note);
            code.emit(&stencil::SEMAPHORE_NOTE)?;
            leave(code, &stencil::SEMAPHORE_NOTE_LEAVE)
        }
    }
}
