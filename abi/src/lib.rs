//! What the nucleus, portal code, the host tool and components agree on.
//!
//! Nothing here does anything: this crate is numbers, layouts and error codes. A change here is a
//! change of the binary interface, and raises [`VERSION`].
#![no_std]
#![forbid(unsafe_code)]

pub mod address;
pub mod descriptor;
pub mod domain;
pub mod error;
pub mod page_table;
pub mod parameters;
pub mod privileged;
pub mod record;
pub mod semaphore;
pub mod signature;
pub mod startup;
pub mod thread;

pub use error::Error;

/// Version of the binary interface; nucleus, image and components carry it and must agree.
pub const VERSION: u32 = 1;
