//! What Linux has on this machine alone: registers of calls, frames of signals, the names of the instruction set.

mod riscv64;

pub use riscv64::*;
