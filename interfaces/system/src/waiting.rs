//! Waiting for interrupts.

pub use crate::interrupts::waited::Interrupt;
