//! What of the interposer needs no other component: how a call is shown, and where calls are kept and counted.
//!
//! Any number of clients' threads are in it at a time. None ever waits for another here: a thread that waited would call the
//! scheduler, which may be what is looked at. So all of it is words that are written one by one, and marks that say whether they are
//! complete.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod kept;
pub mod methods;
pub mod pace;
pub mod portal;
pub mod words;
