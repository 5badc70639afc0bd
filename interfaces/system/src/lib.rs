//! The interfaces of the components that all share, one file each.
#![no_std]
#![forbid(unsafe_code)]

mod clock;
mod console;
mod grants;
mod interposition;
mod interrupts;
mod loading;
mod logs;
mod memory;
mod names;
mod paging;
mod portals;
mod scheduler;
mod sharing;
mod supervision;
mod supervisor;
mod threads;
mod tools;
pub mod waiting;
mod windows;

pub use clock::*;
pub use console::*;
pub use grants::*;
pub use interposition::*;
pub use interrupts::*;
pub use loading::*;
pub use logs::*;
pub use memory::*;
pub use names::*;
pub use paging::*;
pub use portals::*;
pub use scheduler::*;
pub use sharing::*;
pub use supervision::*;
pub use supervisor::*;
pub use threads::*;
pub use tools::*;
pub use windows::*;
