//! The scheduler component: fixed priorities, round robin among equals.
#![cfg_attr(target_arch = "riscv64", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
cairn_scheduler::scheduler_component!("scheduler", cairn_scheduler::FixedPriority, drop);

/// There is nothing to run on the host; the core's tests are in the library.
#[cfg(not(target_arch = "riscv64"))]
fn main() {}
