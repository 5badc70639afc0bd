//! Every interface of the system, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod echo;

pub use echo::{Echo, EchoProxy};
