//! The letters of a specification: what each does to its register.

use super::code::Code;
use super::frame::window_values;
use super::{Crossing, GenerateError};
use crate::literal::*;
use crate::parameter::Parameters;
use crate::plan::Behalf;
use crate::specification::{Letter, Specification, Stack, State};
use crate::stencil::{self, Label, Value};

/// Lets a call of a limited grant in, or not. A call that waits for a stack is made again, so it counts once it has that. Nobody waits for
/// the stack of who runs to completion: such a call counts `first`, before anything has moved, and before P and V do without a call. So
/// one that waits in the scheduler is one call, however it comes back.
pub(super) fn limits(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
    first: bool,
) -> Result<(), GenerateError> {
    if !crossing.is_limited() || first != (specification.stack == Stack::RunToCompletion) {
        return Ok(());
    }
    // The words' address has its place in a literal that this needs.
    if specification.stack == Stack::Shared {
        return Err(GenerateError::DoesNotFit);
    }
    code.value(Value::Limits, crossing.limits_literal());
    code.emit(&stencil::LIMITS)
}

/// What a call is answered that is refused by limits or at a window.
pub(super) fn refused(code: &mut Code, specification: &Specification) -> Result<(), GenerateError> {
    code.label(Label::Refused);
    if specification.stack != Stack::RunToCompletion {
        return code.emit(&stencil::REFUSED);
    }
    code.emit(&stencil::REFUSED_FIRST)?;
    leave_first(code, specification.state == State::Kernel)
}

/// Leaves to the caller, to which nothing has happened; more registers than P and V need were used.
pub(super) fn leave_first(code: &mut Code, from_kernel: bool) -> Result<(), GenerateError> {
    match from_kernel {
        true => code.leave(2, &stencil::LEAVE_TO_KERNEL),
        false => code.leave(6, &stencil::SEMAPHORE_NOTE_LEAVE),
    }
}

/// Who calls on behalf of a client gets through with a thread of its alone.
pub(super) fn on_behalf(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<(), GenerateError> {
    match (crossing.behalf, specification.state, specification.stack) {
        (None, ..) => Ok(()),
        // In the kernel domain nothing tells by which call a thread is there, and stacks are not passed on.
        (_, _, Stack::Shared) => Err(GenerateError::DoesNotFit),
        (Some(Behalf { fault: Some(_), .. }), State::Partial, _) => {
            code.emit(&stencil::FAULT_BEHALF)
        }
        (_, State::Partial, _) => code.emit(&stencil::BEHALF),
        _ => Err(GenerateError::DoesNotFit),
    }
}

/// What others are answered.
pub(super) fn refuse_strangers(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    if crossing.behalf.is_some() {
        code.label(Label::Stranger);
        code.emit(&stencil::STRANGER)?;
    }
    Ok(())
}

/// Fills in what the portal itself passes, and opens windows.
pub(super) fn parameters(
    code: &mut Code,
    (specification, types): (&Specification, &Parameters),
    crossing: &Crossing,
) -> Result<(), GenerateError> {
    let mut position = 0;
    let mut slot = 0;
    for letter in specification.letters() {
        match letter {
            Letter::Word => {}
            Letter::Constant => code.emit(&stencil::CONSTANT[position])?,
            Letter::Index => code.emit(&stencil::INDEX[position])?,
            Letter::Caller => code.emit(&stencil::CALLER[position])?,
            Letter::Thread if specification.stack == Stack::RunToCompletion => {
                code.emit(&stencil::BLOCK[position])?;
            }
            Letter::Thread => code.emit(&stencil::THREAD[position])?,
            Letter::Time => code.emit(&stencil::TIME[position])?,
            // Who calls from the kernel domain is trusted with it.
            Letter::Read | Letter::Write if specification.stack == Stack::Kernel => {
                if specification.state != State::Kernel {
                    code.emit(&stencil::WINDOW_IN_PLACE[position])?;
                }
            }
            Letter::Read | Letter::Write => {
                let is_passed = crossing.behalf.is_some();
                let service = match (letter, specification.state) {
                    (Letter::Read, _) if is_passed => SERVICE_OPEN_PASSED_READ,
                    (_, _) if is_passed => SERVICE_OPEN_PASSED_WRITE,
                    (Letter::Read, State::Kernel) => SERVICE_OPEN_KERNEL_READ,
                    (Letter::Read, _) => SERVICE_OPEN_READ,
                    (_, State::Kernel) => SERVICE_OPEN_KERNEL_WRITE,
                    _ => SERVICE_OPEN_WRITE,
                };
                code.value(Value::WindowService, service);
                window_values(code, crossing, slot);
                if *letter == Letter::Write {
                    code.emit(&stencil::WINDOW_POINTER[position])?;
                }
                if is_passed {
                    code.emit(&stencil::PASSED)?;
                }
                code.emit(&stencil::WINDOW[position])?;
                slot += 1;
            }
            Letter::Registered { letter, words } => {
                let found = types.get(*letter).ok_or(GenerateError::DoesNotFit)?;
                let two = *words == 2;
                code.emit(&stencil::FIRST_FROM[position])?;
                if two {
                    code.emit(&stencil::SECOND_FROM[position + 1])?;
                }
                code.checked(&found.call)?;
                code.emit(&stencil::FIRST_TO[position])?;
                if two {
                    code.emit(&stencil::SECOND_TO[position + 1])?;
                }
            }
        }
        position += letter.words();
    }
    Ok(())
}

/// The reply's value on its way back through the registered types, the last parameter's first.
pub(super) fn value_back(
    code: &mut Code,
    specification: &Specification,
    types: &Parameters,
) -> Result<(), GenerateError> {
    /// The value is in `a1`.
    const VALUE: usize = 1;
    for letter in specification.letters().iter().rev() {
        let Letter::Registered { letter, .. } = letter else { continue };
        let found = types.get(*letter).ok_or(GenerateError::DoesNotFit)?;
        if !found.back.code().is_empty() {
            code.emit(&stencil::FIRST_FROM[VALUE])?;
            code.checked(&found.back)?;
            code.emit(&stencil::FIRST_TO[VALUE])?;
        }
    }
    Ok(())
}

/// Clears the registers of arguments that the method does not have.
pub(super) fn scrub_unused(
    code: &mut Code,
    specification: &Specification,
) -> Result<(), GenerateError> {
    for stencil in &stencil::SCRUB[specification.words()..] {
        code.emit(stencil)?;
    }
    Ok(())
}

/// Closes all windows, each by the service for its letter.
pub(super) fn close_windows(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
    service: impl Fn(Letter) -> i64,
) -> Result<(), GenerateError> {
    let windows = specification.letters().iter().filter(|letter| letter.is_window());
    for (slot, letter) in windows.enumerate() {
        let service = service(*letter);
        code.value(Value::WindowService, service);
        window_values(code, crossing, slot as i64);
        if service == SERVICE_CLOSE_WRITE {
            code.emit(&stencil::WINDOW_CLOSE_POINTER)?;
        }
        code.emit(&stencil::WINDOW_CLOSE)?;
    }
    Ok(())
}
