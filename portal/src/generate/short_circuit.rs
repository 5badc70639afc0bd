//! Portals that do their work themselves.

use super::code::Code;
use super::{Crossing, GenerateError, Generated};
use crate::literal::*;
use crate::plan::Place;
use crate::stencil::{self, Label, Value};

/// A portal that does its work itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortCircuit {
    /// The number of the caller's domain.
    OwnDomain,
    /// The index of the calling thread.
    OwnThread,
    /// The time in ticks.
    Time,
    /// What an index without a portal leads to: an error.
    NoPortal,
}

/// Generates a short-circuit portal for `crossing.caller`. What an index without a portal leads to is the same for all but
/// those that run to completion in the kernel domain.
pub fn short_circuit(
    kind: ShortCircuit,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let start = code.literals()?;
    code.value(Value::Domain, crossing.caller.domain.0.into());
    match kind {
        ShortCircuit::OwnDomain => code.emit(&stencil::OWN_DOMAIN)?,
        ShortCircuit::OwnThread => code.emit(&stencil::OWN_THREAD)?,
        ShortCircuit::Time => code.emit(&stencil::OWN_TIME)?,
        ShortCircuit::NoPortal => {}
    }
    let leave = &stencil::SHORT_CIRCUIT_IN_KERNEL;
    match (kind, crossing.caller.place) {
        (ShortCircuit::NoPortal, Place::KernelToCompletion { .. }) => {
            code.emit(&stencil::NO_PORTAL_TO_COMPLETION)?;
        }
        (ShortCircuit::NoPortal, _) => {
            code.emit(&stencil::NO_PORTAL)?;
            code.label(Label::InKernel);
            code.emit(&stencil::NO_PORTAL_IN_KERNEL)?;
            code.resolve()?;
        }
        (_, Place::User) => code.emit(&stencil::SHORT_CIRCUIT_LEAVE)?,
        (_, Place::Kernel) => code.emit(leave)?,
        (_, Place::KernelToCompletion { .. }) => code.emit_part(leave, 1..)?,
    }
    code.literal(start, LITERAL_MARK, MARK_CALL);
    code.finish(start, 0)
}
