//! Provides sections with pages that lie on a disk: as many at a time as its quota of memory holds. What is in which page is in the
//! library.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
