//! Code in assembly, a folder for each architecture.

#[cfg(target_arch = "riscv64")]
mod riscv64;

#[cfg(target_arch = "riscv64")]
pub(crate) use riscv64::*;
