//! The supervisor: entry points. What needs no machine is in the library.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod blame;
#[cfg(target_os = "none")]
mod component;
#[cfg(target_os = "none")]
mod death;
#[cfg(target_os = "none")]
mod look;
#[cfg(target_os = "none")]
mod printer;
#[cfg(target_os = "none")]
mod runaway;
#[cfg(target_os = "none")]
mod state;
#[cfg(target_os = "none")]
mod tell;

#[cfg(not(target_os = "none"))]
fn main() {}
