//! The device owner's component.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

/// There is nothing to run on the host; the tests are in the library.
#[cfg(not(target_os = "none"))]
fn main() {}
