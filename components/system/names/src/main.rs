//! The name server's component.
#![cfg_attr(target_arch = "riscv64", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
mod component;

/// There is nothing to run on the host; the table's tests are in the library.
#[cfg(not(target_arch = "riscv64"))]
fn main() {}
