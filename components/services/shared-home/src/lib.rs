//! Which node has which page, free of the machine, so that it is tested on the host.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

pub mod directory;
#[cfg(test)]
mod directory_tests;
