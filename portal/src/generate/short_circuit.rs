//! Portals that do their work themselves.

use super::code::Code;
use super::{Crossing, GenerateError, Generated};
use crate::literal::*;
use crate::stencil::{self, Value};

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

/// Generates a short-circuit portal for `crossing.caller`.
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
        ShortCircuit::NoPortal => code.emit(&stencil::NO_PORTAL)?,
    }
    if kind != ShortCircuit::NoPortal {
        code.emit(&stencil::SHORT_CIRCUIT_LEAVE)?;
    }
    code.literal(start, LITERAL_MARK, MARK_CALL);
    code.finish(start, 0)
}
