//! Every interface in the system, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod all;
mod blocks;
mod clock;
mod console;
mod devices;
mod echo;
mod interrupts;
mod memory;
mod names;
mod portals;
mod random;
mod scheduler;
mod script;
mod supervision;
mod supervisor;
mod threads;
#[cfg(target_os = "none")]
pub mod waiting;
mod wall_clock;

pub use all::ALL;
pub use blocks::*;
pub use clock::*;
pub use console::*;
pub use devices::*;
pub use echo::*;
pub use interrupts::*;
pub use memory::*;
pub use names::*;
pub use portals::*;
pub use random::*;
pub use scheduler::*;
pub use script::*;
pub use supervision::*;
pub use supervisor::*;
pub use threads::*;
pub use wall_clock::*;
