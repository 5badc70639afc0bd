//! What the benchmark components share: the interface between them, distributions, the report.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(target_arch = "riscv64")]
mod call;
mod copies;
mod distribution;
mod link;
mod load;
#[cfg(target_arch = "riscv64")]
mod order;
mod page;
#[cfg(target_arch = "riscv64")]
pub mod pipe;
#[cfg(target_arch = "riscv64")]
mod report;
#[cfg(target_arch = "riscv64")]
pub mod ring;
#[cfg(target_arch = "riscv64")]
mod text;
mod vault;
mod victim;

#[cfg(target_arch = "riscv64")]
pub use call::*;
pub use copies::*;
pub use distribution::*;
pub use link::*;
pub use load::*;
#[cfg(target_arch = "riscv64")]
pub use order::Rounds;
pub use page::*;
#[cfg(target_arch = "riscv64")]
pub use report::*;
pub use vault::*;
pub use victim::*;
