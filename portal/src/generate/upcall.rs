//! Portals without a way back, into a component that runs to completion: of exceptions and
//! interrupts, and of calls whose caller's state is discarded.

use super::code::{Code, enter};
use super::frame::frame_values;
use super::pair::masks;
use super::parameters::parameters;
use super::{Crossing, GenerateError, Generated};
use crate::literal::*;
use crate::parameter::Parameters;
use crate::plan::{Float, Place};
use crate::specification::Specification;
use crate::stencil::{self, Value};

/// Generates the portal of an exception or interrupt: after the trap entry saved the registers, it
/// enters a run-to-completion component with the thread's index, the cause and its value, and the
/// domain that ran, which is `crossing.caller`.
/// `acknowledge` clears the software interrupt.
pub fn upcall(
    crossing: &Crossing,
    acknowledge: bool,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let start = code.literals()?;
    match crossing.caller.float {
        Float::PROCESSES => {
            code.emit(&stencil::PROCESS_FLOAT_OFF)?;
            code.emit(&stencil::PROCESS_FLOAT_STATUS)?;
        }
        float if float.is_on() => code.emit(&stencil::FLOAT_OFF)?,
        _ => {}
    }
    if crossing.caller.float != Float::OFF {
        code.literal(start, LITERAL_SERVICES, crossing.services);
    }
    code.emit(&stencil::UPCALL_ENTER)?;
    if masks(crossing) {
        code.emit(&stencil::INTERRUPTS_OFF)?;
    }
    if acknowledge {
        code.emit(&stencil::UPCALL_ACKNOWLEDGE)?;
    }
    code.emit(&stencil::BLOCK_1)?;
    code.emit(&stencil::UPCALL_ARGUMENTS)?;
    code.value(Value::Caller, crossing.caller.instance.0.into());
    code.emit(&stencil::CALLER_4)?;
    enter_to_completion(&mut code, crossing, true)?;
    run_to_completion_literals(&mut code, start, crossing);
    code.finish(start, 0)
}

/// `traps`: whether the way here is a trap.
fn enter_to_completion(
    code: &mut Code,
    crossing: &Crossing,
    traps: bool,
) -> Result<(), GenerateError> {
    if matches!(crossing.callee.place, Place::KernelToCompletion { .. }) {
        if traps {
            code.emit(&stencil::NOTE_FRAME)?;
        }
        return code.emit(&stencil::ENTER_TO_COMPLETION);
    }
    enter(code, crossing, &stencil::ENTER)?;
    code.emit(&stencil::ENTER_ENTRY)?;
    code.leave(1, &stencil::LEAVE_MINIMAL)
}

/// A call that discards its caller's state.
pub(super) fn discarding(
    mut code: Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<Generated, GenerateError> {
    // Nobody who runs to completion accepts anything.
    if crossing.is_limited() {
        return Err(GenerateError::DoesNotFit);
    }
    let start = code.literals()?;
    frame_values(&mut code, specification, crossing);
    code.emit(&stencil::UPCALL_ENTER)?;
    if masks(crossing) {
        code.emit(&stencil::INTERRUPTS_OFF)?;
    }
    parameters(&mut code, (specification, &Parameters::NONE), crossing)?;
    enter_to_completion(&mut code, crossing, crossing.caller.place == Place::User)?;
    code.resolve()?;
    run_to_completion_literals(&mut code, start, crossing);
    code.finish(start, 0)
}

fn run_to_completion_literals(code: &mut Code, start: usize, crossing: &Crossing) {
    let own = code.address + start as u64 * 4;
    code.literal(start, LITERAL_MARK, MARK_CALL);
    code.literal(start, LITERAL_ABORT, own);
    code.literal(start, LITERAL_SPACE, crossing.callee.space.word());
    code.literal(start, LITERAL_TABLE, crossing.callee.table);
    code.literal(start, LITERAL_ENTRY, crossing.entry);
    code.literal(start, LITERAL_STUB, crossing.stub);
    code.literal(start, LITERAL_STACK, crossing.ground.address());
    code.literal(start, LITERAL_CONSTANT, crossing.constant);
}
