//! Provides sections with pages that are zero when they are first used, out of its own quota of memory. The pool is in the library.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
