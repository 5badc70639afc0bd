//! What the benchmark components share: the interface between them, distributions, the report.
#![no_std]
#![forbid(unsafe_code)]

mod copies;
mod distribution;
mod inside;
mod link;
mod load;
mod loaded;
mod page;
mod purse;
mod stage;
mod steps;
mod unit;
mod vault;
mod victim;
mod witness;

/// What is there on the machine alone.
#[cfg(target_os = "none")]
#[path = ""]
mod machine {
    mod call;
    mod loading;
    pub(crate) mod order;
    pub mod pipe;
    mod report;
    pub mod ring;
    pub(crate) mod text;

    pub use call::*;
    pub use loading::*;
    pub use order::{Rounds, wants};
    pub use report::*;
}

pub use copies::*;
pub use distribution::*;
pub use inside::*;
pub use link::*;
pub use load::*;
pub use loaded::*;
#[cfg(target_os = "none")]
pub use machine::*;
pub use page::*;
pub use purse::*;
pub use stage::*;
pub use steps::*;
pub use unit::*;
pub use vault::*;
pub use victim::*;
pub use witness::*;
