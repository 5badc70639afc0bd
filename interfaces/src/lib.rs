//! Every interface in the system, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod block_queue;
mod blocks;
mod clock;
mod console;
mod devices;
mod echo;
mod i2c;
mod interrupts;
mod logs;
mod memory;
mod names;
mod pins;
mod portals;
mod random;
mod scheduler;
mod script;
mod spi;
mod supervision;
mod supervisor;
mod threads;
mod transactions;
#[cfg(target_os = "none")]
pub mod waiting;
mod wall_clock;

pub use block_queue::*;
pub use blocks::*;
pub use clock::*;
pub use console::*;
pub use devices::*;
pub use echo::*;
pub use i2c::*;
pub use interrupts::*;
pub use logs::*;
pub use memory::*;
pub use names::*;
pub use pins::*;
pub use portals::*;
pub use random::*;
pub use scheduler::*;
pub use script::*;
pub use spi::*;
pub use supervision::*;
pub use supervisor::*;
pub use threads::*;
pub use transactions::*;
pub use wall_clock::*;
