//! Reads a component's file, which is hostile: an executable linked with `lib/cairn/component.ld`. Whatever it says
//! becomes a [`Component`] that keeps to the rules of `validity.rs`, or a message for people. For the host tool and for the target.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod calls;
mod clock;
mod component;
mod copy;
mod declared;
mod descriptor;
mod guards;
pub mod interface_text;
mod notes;
mod relink;
mod segment;
mod thread_local;
mod validity;

pub use calls::Call;
pub use component::{Component, Symbol};
pub use copy::Copying;
pub use declared::{Declared, declared};
pub use descriptor::{Argument, Descriptor, Export, Import, Interface, Method};
pub use relink::{First, Form};
pub use segment::{Rights, Segment};
