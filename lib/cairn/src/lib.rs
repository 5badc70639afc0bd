//! What every Rust component links: calling portals, serving interfaces, starting up.
//!
//! `unsafe` is only in modules that access the machine or memory (`arch`, `window::memory`, `object::table`, `sync` and
//! others); a test of `tools/cairn` lists them.
#![no_std]
#![deny(unsafe_code)]

// As the macros' expansions call it.
extern crate self as cairn;

pub(crate) mod arch;
pub mod cached;
pub mod call;
pub mod component;
pub mod cost;
pub mod dma;
pub mod environment;
pub mod exclusive;
mod expansion;
mod failure;
pub mod fork;
pub mod in_place;
pub mod interpose;
pub mod log;
#[cfg(not(target_os = "none"))]
pub mod mock;
pub mod object;
mod ready;
pub mod record;
pub mod registers;
pub mod section;
#[cfg(target_os = "none")]
pub mod succession;
pub mod successor;
pub mod sync;
pub mod text;
pub mod thread;
pub mod time;
pub mod watchdog;
pub mod window;
pub mod wire;

/// What the macros' output alone may name: components whose source does are refused.
#[doc(hidden)]
pub mod __expansion {
    pub use crate::expansion::*;
}

/// What is there on the machine alone.
#[cfg(target_os = "none")]
#[path = ""]
mod machine {
    #[cfg(feature = "embassy-time")]
    pub mod embassy;
    #[cfg(feature = "alloc")]
    pub mod heap;
    pub mod measure;
    pub(crate) mod panic;
    pub mod privileged;
    pub mod process;
}
#[cfg(target_os = "none")]
pub use machine::*;

pub use cairn_abi::{self as abi, DomainId, Error, InstanceId};
pub use cairn_macros::{MethodError, Wire, component, interface};
pub use component::{Caller, CallerThread, Now, PortalIndex};
pub use failure::Failure;
pub use object::{Grant, Object, Passed, Place};
pub use ready::ready;
