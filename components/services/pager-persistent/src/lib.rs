//! Where checkpoints lie on a disk, free of the machine, so that it is tested on the host.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

pub mod checkpoints;
#[cfg(test)]
mod checkpoints_tests;
