//! The memory manager: entry points. The logic is in the library.
#![cfg_attr(target_arch = "riscv64", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
mod component;

#[cfg(not(target_arch = "riscv64"))]
fn main() {}
