//! A counter, and the interface that a newer one serves beside.
#![no_std]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts.
#[cairn::interface]
pub trait Counter {
    /// Adds to what was added before; the sum.
    fn add(&self, amount: u64) -> Result<u64, Error>;
}

/// Counts faster.
#[cairn::interface]
pub trait Counter2 {
    /// Adds several times; the sum.
    fn add_times(&self, amount: u64, times: u64) -> Result<u64, Error>;
    /// A counter of one's own.
    fn cell(&self, place: Place) -> Result<Object<dyn Cell>, Error>;
}

/// A counter of a client's own.
#[cairn::interface]
pub trait Cell {
    /// Adds to what was added before; the sum.
    fn add(&self, amount: u64) -> Result<u64, Error>;
}

/// What has been counted, which goes over. Relaxed: a sum, by one operation.
pub struct Sum(AtomicU64);

impl Sum {
    /// Nothing yet.
    pub const fn new() -> Sum {
        Sum(AtomicU64::new(0))
    }

    /// Adds; the sum.
    pub fn add(&self, amount: u64) -> u64 {
        self.0.fetch_add(amount, Relaxed) + amount
    }

    /// As `Successor` has it.
    pub fn export(&self, part: WriteWindow<'_>) -> Result<usize, Error> {
        part.write(0, &self.0.load(Relaxed).to_le_bytes())
    }

    /// As `Successor` has it.
    pub fn import(&self, part: ReadWindow<'_>) -> Result<(), Error> {
        let mut bytes = [0; 8];
        part.copy(&mut bytes)?;
        self.0.store(u64::from_le_bytes(bytes), Relaxed);
        Ok(())
    }
}

impl Cell for Sum {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        Ok(Sum::add(self, amount))
    }
}

impl Default for Sum {
    fn default() -> Sum {
        Sum::new()
    }
}
