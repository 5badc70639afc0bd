//! A network of components: each is at one end of a cable, and what one sends the others receive.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
