//! The memory manager: entry points. The logic is in the library.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
