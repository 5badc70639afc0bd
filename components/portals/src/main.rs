//! The portal manager's component.
#![cfg_attr(target_arch = "riscv64", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
mod component;
#[cfg(target_arch = "riscv64")]
mod describe;
#[cfg(target_arch = "riscv64")]
mod inside;
#[cfg(target_arch = "riscv64")]
mod manager;
#[cfg(target_arch = "riscv64")]
mod memory;
#[cfg(target_arch = "riscv64")]
mod queues;
#[cfg(target_arch = "riscv64")]
mod reclaim;
#[cfg(target_arch = "riscv64")]
mod registrations;
#[cfg(target_arch = "riscv64")]
mod services;
#[cfg(target_arch = "riscv64")]
mod synchronisation;
#[cfg(target_arch = "riscv64")]
mod templates;

/// There is nothing to run on the host; what can be tested there is in the library.
#[cfg(not(target_arch = "riscv64"))]
fn main() {}
