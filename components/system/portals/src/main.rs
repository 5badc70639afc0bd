//! The portal manager's component.
#![cfg_attr(target_arch = "riscv64", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
mod component;
#[cfg(target_arch = "riscv64")]
mod describe;
#[cfg(target_arch = "riscv64")]
mod memory;

/// There is nothing to run on the host; what can be tested there is in the library.
#[cfg(not(target_arch = "riscv64"))]
fn main() {}
