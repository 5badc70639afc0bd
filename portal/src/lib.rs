//! From a portal specification to machine code.
//!
//! This library does not know its caller: the host tool makes the portals of the first system
//! with it, the portal manager makes those that come later, and the tests execute what it made.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod arch;
pub mod generate;
pub mod invocation;
pub mod plan;
pub mod specification;
pub mod stencil;

pub use arch::{bounds, fences, parameter};
pub use cairn_abi::literal;
pub use fences::Fences;
pub use generate::{
    DeviceOperation, DeviceQueue, FaultBetween, GenerateError, Generated, PagedRange,
    ProcessPortal, ProcessServer, ShortCircuit,
};
pub use parameter::{Parameter, ParameterError, Parameters};
pub use plan::{
    Behalf, Crossing, End, Float, Ground, Limits, PagerMemory, PassedFault, Place, Plan,
    SemaphoreOperation, Source, Trust, plan,
};
pub use specification::{Letter, Specification, SpecificationError, Stack, State};
