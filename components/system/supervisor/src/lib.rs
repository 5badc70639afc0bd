//! The supervisor's logic, free of the machine, so that it is tested on the host.
//!
//! Relaxed: the supervisor's threads are of one hart, which sees its own stores in order.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

pub mod backoff;
pub mod instances;
pub mod kept;
pub mod log;
pub mod report;
pub mod standing;
pub mod watch;

pub use cairn_portal::invocation as stack;
