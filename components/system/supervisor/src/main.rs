//! The supervisor: entry points. What needs no machine is in the library.
#![cfg_attr(target_arch = "riscv64", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
mod blame;
#[cfg(target_arch = "riscv64")]
mod component;
#[cfg(target_arch = "riscv64")]
mod death;
#[cfg(target_arch = "riscv64")]
mod look;
#[cfg(target_arch = "riscv64")]
mod printer;
#[cfg(target_arch = "riscv64")]
mod runaway;
#[cfg(target_arch = "riscv64")]
mod state;
#[cfg(target_arch = "riscv64")]
mod tell;

#[cfg(not(target_arch = "riscv64"))]
fn main() {}
