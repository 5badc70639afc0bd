//! A folder for each architecture, of which the build uses one under its modules' own names.

pub mod riscv64;
pub use riscv64::*;
