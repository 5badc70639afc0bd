//! Code in assembly, a folder for each architecture.

#[cfg(not(target_os = "none"))]
mod host;
#[cfg(all(target_os = "none", target_arch = "riscv64"))]
mod riscv64;

#[cfg(not(target_os = "none"))]
pub(crate) use host::*;
#[cfg(all(target_os = "none", target_arch = "riscv64"))]
pub(crate) use riscv64::*;
