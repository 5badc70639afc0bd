//! The interfaces of applications, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod echo;
mod script;

pub use echo::*;
pub use script::*;
