//! What a personality of Linux computes without its machine: the order of a process' memory, an archive's entries, what a terminal does with
//! what is typed. The rest is the program (`main.rs`).
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod areas;
pub mod errno;
pub mod line;
pub mod tar;
