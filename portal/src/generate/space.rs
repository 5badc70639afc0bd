//! Portals between two in one page table.

use super::code::Code;
use super::{Crossing, GenerateError};
use crate::specification::{Specification, Stack};
use crate::stencil;

/// Whether neither a call nor its return changes the space: the caller's is the callee's, and whoever the callee called has come back into
/// that. Who runs to completion can come back through another who does, in another space. An abort or dead entry comes from anywhere.
pub(super) fn stays(specification: &Specification, crossing: &Crossing) -> bool {
    specification.stack != Stack::RunToCompletion && crossing.shares_space()
}

/// Where neither identifiers nor a change of the space keep windows from who had them: the fence in its place.
pub(super) fn fence_windows(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<usize, GenerateError> {
    let is_kept = crossing.asids || specification.windows() == 0;
    if is_kept || !stays(specification, crossing) {
        return Ok(0);
    }
    code.emit(&stencil::FENCE_DOMAINS)?;
    Ok(code.at - 1)
}
