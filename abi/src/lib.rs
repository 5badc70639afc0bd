//! What the nucleus, portal code, the host tool and components agree on.
//!
//! This crate is numbers, layouts and error codes, a change of which is a change of the binary interface and raises
//! [`VERSION`]; and how the text of a component is shown ([`text`]).
#![no_std]
#![forbid(unsafe_code)]

pub mod address;
pub mod arch;
pub mod constants;
pub mod descriptor;
pub mod device;
pub mod domain;
pub mod error;
pub mod float;
pub mod fork;
pub mod grant;
pub mod identifier;
pub mod interface_text;
pub mod kernel_area;
pub mod literal;
pub mod loadable;
pub mod log;
pub mod memory;
pub mod package;
pub mod parameter_data;
pub mod parameters;
pub mod privileged;
pub mod process;
pub mod record;
pub mod semaphore;
pub mod signature;
pub mod startup;
pub mod text;
pub mod thread;
pub mod upcall;

pub use arch::page_table::{self, Space};
pub use error::Error;
pub use identifier::{DomainId, InstanceId, RegionId};

/// Version of the binary interface; nucleus, image and components carry it and must agree.
pub const VERSION: u32 = 2;
