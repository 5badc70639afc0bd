//! The interfaces of drivers and of devices, one file each. What all components use is in `cairn-interfaces`, a crate of its own, so
//! that a change here builds anew who uses this.
#![no_std]
#![forbid(unsafe_code)]

mod block_queue;
mod blocks;
mod devices;
mod frames;
mod i2c;
mod pins;
mod random;
mod spi;
mod transactions;
mod wall_clock;

pub use block_queue::*;
pub use blocks::*;
pub use devices::*;
pub use frames::*;
pub use i2c::*;
pub use pins::*;
pub use random::*;
pub use spi::*;
pub use transactions::*;
pub use wall_clock::*;
