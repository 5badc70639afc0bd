//! The same as `../soft`, its floating point in hardware: `Cargo.toml` says so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

include!("../../soft/src/main.rs");
