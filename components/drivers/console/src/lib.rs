//! What of the console has nothing to do with the device: the rings between callers and the
//! interrupt thread, and the line discipline.
#![no_std]
#![forbid(unsafe_code)]

pub mod discipline;
pub mod halves;
pub mod readers;
pub mod ring;
