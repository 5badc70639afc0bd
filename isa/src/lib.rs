//! From an instruction's bits to what it means, a folder for each architecture. Whoever has to know that,
//! the emulator of the tests and what checks code on the target, asks here: so they agree.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[path = "arch/riscv64/mod.rs"]
pub mod riscv64;
