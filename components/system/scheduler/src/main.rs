//! The scheduler component: fixed priorities, round robin among equals.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
cairn_scheduler::scheduler_component!("scheduler", cairn_scheduler::FixedPriority, drop);

/// There is nothing to run on the host; the core's tests are in the library.
#[cfg(not(target_os = "none"))]
fn main() {}
