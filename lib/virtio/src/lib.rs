//! Queues of virtio devices (virtio 1.2, section 2.7), for their drivers.
//!
//! A driver begins with [`begin`], which has the device owner set the device up. What it offers by `cairn::dma::Device` is a
//! *chain* of descriptors that follow each other in the table, so a driver that gives each of its requests a place there needs no
//! list of free ones: [`Requests`] does that, for requests of several threads at a time.
#![no_std]
#![forbid(unsafe_code)]

mod queue;
mod requests;

pub use cairn::abi::device::{Descriptor, VirtioKind};
pub use queue::{Done, begin};
pub use requests::Requests;
