//! The steps of `bench/components/control.rs`, floating point in hardware: `Cargo.toml` says so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

const UNIT: &str = "hard";

include!("../../control.rs");
