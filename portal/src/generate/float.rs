//! What portals of domains that may use the floating-point unit have beside others: `arch/riscv64/stencils/float.S`.

use super::code::Code;
use super::{Crossing, GenerateError};
use crate::plan::Float;
use crate::stencil::{self, Label};

/// Whoever leaves a domain that may use the unit turns it off; the frame of a callee that may has a cell that nothing is in yet.
pub(super) fn begin_float(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    match crossing.caller.float {
        Float::PROCESSES => code.emit(&stencil::PROCESS_FLOAT_OFF)?,
        float if float.is_on() => code.emit(&stencil::FLOAT_OFF)?,
        _ => {}
    }
    if crossing.callee.float.is_on() {
        code.emit(&stencil::FLOAT_UNUSED)?;
    }
    Ok(())
}

/// Behind all that can be refused: the callee has the unit when it begins.
pub(super) fn start_float(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    match crossing.callee.float {
        Float::START => code.emit(&stencil::FLOAT_BEGIN),
        _ => Ok(()),
    }
}

/// The activation of a callee that may have the floating-point unit ends.
pub(super) fn end_float(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    if crossing.callee.float.is_on() { code.emit(&stencil::FLOAT_END) } else { Ok(()) }
}

/// A caller that may have the unit finds its own registers there. On the way out of an abort entry of a portal into the kernel domain
/// it does not, and is given them at its next use.
pub(super) fn find_float(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    if crossing.caller.float.is_on() {
        code.emit(&stencil::FLOAT_BACK)?;
        code.label(Label::FloatFound);
    }
    Ok(())
}

/// What it does if they are elsewhere; the branch there is not taken otherwise.
pub(super) fn float_elsewhere(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    if crossing.caller.float.is_on() {
        code.label(Label::FloatElsewhere);
        code.emit(&stencil::FLOAT_ELSEWHERE)?;
    }
    Ok(())
}
