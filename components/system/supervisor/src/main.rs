//! The supervisor: entry points. What needs no machine is in the library.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

/// All of it is for the machine alone.
#[cfg(target_os = "none")]
#[path = ""]
mod machine {
    pub mod blame;
    pub mod component;
    pub mod death;
    pub mod idle;
    pub mod lasting;
    pub mod loading;
    pub mod logs;
    pub mod look;
    pub mod moving;
    pub mod printer;
    pub mod ready;
    pub mod reason;
    pub mod replacing;
    pub mod runaway;
    pub mod starvation;
    pub mod succession;
    pub mod system;
    pub mod tell;
    pub mod trace;
    pub mod worker;
}
#[cfg(target_os = "none")]
use machine::*;

#[cfg(not(target_os = "none"))]
fn main() {}
