//! Every interface in the system, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod all;
mod clock;
mod console;
mod echo;
mod interrupts;
mod memory;
mod names;
mod portals;
mod scheduler;
mod script;
mod supervision;
mod supervisor;
mod threads;
mod wall_clock;

pub use all::ALL;
pub use clock::*;
pub use console::*;
pub use echo::*;
pub use interrupts::*;
pub use memory::*;
pub use names::*;
pub use portals::*;
pub use scheduler::*;
pub use script::*;
pub use supervision::*;
pub use supervisor::*;
pub use threads::*;
pub use wall_clock::*;
