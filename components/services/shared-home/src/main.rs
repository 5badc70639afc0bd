//! The home of distributed shared memory: says which node has which page, to read or to write, and keeps the pages that no node writes.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
