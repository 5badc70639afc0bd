//! What every Rust component links: calling portals, serving interfaces, starting up.
//!
//! `unsafe` is in the modules named after what the machine or memory demands (`arch`,
//! `window::memory`, `object::table`, `sync` and others; a test of `tools/cairn` lists them), nowhere
//! else.
#![no_std]
#![deny(unsafe_code)]

#[cfg(target_os = "none")]
mod arch;
pub mod call;
pub mod component;
#[cfg(target_os = "none")]
pub mod environment;
pub mod exclusive;
#[doc(hidden)]
pub mod expansion;
#[cfg(all(feature = "alloc", target_os = "none"))]
pub mod heap;
#[cfg(target_os = "none")]
pub mod measure;
pub mod object;
#[cfg(target_os = "none")]
mod panic;
#[cfg(target_os = "none")]
pub mod privileged;
#[cfg(target_os = "none")]
pub mod record;
#[cfg(target_os = "none")]
pub mod registers;
#[cfg(target_os = "none")]
pub mod section;
pub mod sync;
pub mod text;
pub mod thread;
#[cfg(target_os = "none")]
pub mod time;
pub mod window;
pub mod wire;

pub use cairn_abi::{self as abi, DomainId, Error, InstanceId};
pub use cairn_macros::{MethodError, Wire, component, interface};
pub use component::{Caller, CallerThread, Now, PortalIndex};
pub use object::{Object, Place};
