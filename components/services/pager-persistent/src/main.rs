//! Provides sections with pages that survive a cut of power at any time: what its next life finds is the last whole checkpoint.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
