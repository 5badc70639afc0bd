//! What of the recorder needs no other component: calls as they are kept, as lines, and read again.
//!
//! Any number of clients' threads record at a time, and none waits here for another: what is kept is words that are written one by one, and a
//! mark behind them, which says that a call is whole.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod call;
pub mod lines;
pub mod read;
pub mod store;

#[cfg(test)]
mod tests;
