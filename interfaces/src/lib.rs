//! Every interface in the system, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod all;
mod clock;
mod console;
mod devices;
mod echo;
mod interrupts;
mod memory;
mod names;
mod portals;
mod scheduler;
mod supervision;
mod supervisor;
mod threads;

pub use all::ALL;
pub use clock::*;
pub use console::*;
pub use devices::*;
pub use echo::*;
pub use interrupts::*;
pub use memory::*;
pub use names::*;
pub use portals::*;
pub use scheduler::*;
pub use supervision::*;
pub use supervisor::*;
pub use threads::*;
