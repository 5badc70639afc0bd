//! A control loop, its floating point in software.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

include!("../../loop.rs");
