//! Reads what components come as, which is hostile, for the host tool and for the target.
//!
//! With the feature `file`, a component's file: an executable linked with `lib/cairn/component.ld`. Whatever it says
//! becomes a `Component` that keeps to the rules of `validity.rs`, or a message for people. Without it, a [`package`] alone, for
//! which nothing is allocated.

#![no_std]
#![forbid(unsafe_code)]

pub mod package;
pub mod placement;

#[cfg(feature = "file")]
extern crate alloc;

#[cfg(feature = "file")]
mod calls;
#[cfg(feature = "file")]
mod clock;
#[cfg(feature = "file")]
mod component;
#[cfg(feature = "file")]
mod copy;
#[cfg(feature = "file")]
mod declared;
#[cfg(feature = "file")]
mod descriptor;
#[cfg(feature = "file")]
mod guards;
#[cfg(feature = "file")]
pub mod interface_text;
#[cfg(feature = "file")]
mod notes;
#[cfg(feature = "file")]
mod relink;
#[cfg(feature = "file")]
mod segment;
#[cfg(feature = "file")]
mod thread_local;
#[cfg(feature = "file")]
mod validity;

#[cfg(feature = "file")]
pub use {
    calls::Call,
    component::{Component, Symbol},
    copy::Copying,
    declared::{Declared, declared},
    descriptor::{Argument, Descriptor, Export, Import, Interface, Method},
    relink::{First, Form},
    segment::{Rights, Segment},
};
