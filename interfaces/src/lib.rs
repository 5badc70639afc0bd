//! Every interface in the system, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod echo;
mod interrupts;
mod scheduler;

pub use echo::*;
pub use interrupts::*;
pub use scheduler::*;
