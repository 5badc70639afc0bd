//! The steps of `bench/components/control.rs`, floating point in software.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

const UNIT: &str = "soft";

include!("../../control.rs");
