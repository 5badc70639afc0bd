//! Queues in a section that two components share: [`ring`] has the rings, [`blocks`] requests to a disk in them.
//!
//! Neither side believes the other: what one does to the section costs the other at most an error.
#![no_std]
#![forbid(unsafe_code)]

pub mod blocks;
pub mod ring;
