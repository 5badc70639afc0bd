//! The cable: who is at it, and the frames that wait for each, free of the machine, so that it is tested on the host.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

pub mod cable;
#[cfg(test)]
mod cable_tests;
