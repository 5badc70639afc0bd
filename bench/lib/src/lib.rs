//! What the benchmark components share: the interface between them, distributions, the report.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod call;
mod copies;
mod distribution;
mod link;
mod load;
#[cfg(target_os = "none")]
mod order;
mod page;
#[cfg(target_os = "none")]
pub mod pipe;
#[cfg(target_os = "none")]
mod report;
#[cfg(target_os = "none")]
pub mod ring;
#[cfg(target_os = "none")]
mod text;
mod vault;
mod victim;

#[cfg(target_os = "none")]
pub use call::*;
pub use copies::*;
pub use distribution::*;
pub use link::*;
pub use load::*;
#[cfg(target_os = "none")]
pub use order::Rounds;
pub use page::*;
#[cfg(target_os = "none")]
pub use report::*;
pub use vault::*;
pub use victim::*;
