//! The portal manager's component.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;
#[cfg(target_os = "none")]
mod describe;
#[cfg(target_os = "none")]
mod given;
#[cfg(target_os = "none")]
mod memory;

/// There is nothing to run on the host; what can be tested there is in the library.
#[cfg(not(target_os = "none"))]
fn main() {}
