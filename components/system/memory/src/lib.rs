//! The memory manager's logic, free of the machine, so that it is tested on the host.
//!
//! Nothing here takes a lock. The supervisor calls in with the highest priority of all, and must not
//! wait for a thread that it preempted; and a thread that dies with its instance holds nothing.
//!
//! Relaxed: the manager's threads are of one hart, which sees its own stores in order. With several, an entry that leads
//! to a table needs `Release`, and what finds an entry `Acquire`; what was unmapped is fenced before it is given on.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

mod account;
mod content;
pub mod death;
mod domains;
pub mod frames;
mod free;
pub mod growth;
mod instances;
mod instant;
pub mod live;
mod loading;
pub mod manager;
pub mod measure;
mod numbers;
pub mod paging;
pub mod refusal;
mod returned;
mod section_word;
pub mod sections;
mod settled;
pub mod tables;
pub mod windows;

#[cfg(test)]
mod domain_tests;
#[cfg(test)]
mod fence_tests;
#[cfg(test)]
mod frames_tests;
#[cfg(test)]
mod growth_tests;
#[cfg(test)]
mod loading_tests;
#[cfg(test)]
mod measure_tests;
#[cfg(test)]
mod paging_tests;
#[cfg(test)]
mod section_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod windows_tests;
