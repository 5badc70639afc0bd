//! The same control loop as in `soft`, its floating point in hardware: `Cargo.toml` says so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

include!("../../loop.rs");
