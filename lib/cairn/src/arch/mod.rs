//! What only assembly can say, an architecture's in a folder of its own.

#[cfg(target_arch = "riscv64")]
mod riscv64;

#[cfg(target_arch = "riscv64")]
pub(crate) use riscv64::*;
