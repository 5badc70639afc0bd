//! What the server offers all of its clients.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Clients of the system.
pub const CLIENTS: u64 = 240;

/// Who has called how often.
#[cairn::interface]
pub trait Roll {
    /// The client with this number, from 1 on, calls; the value is how often it has by now.
    fn call(&self, client: u64) -> Result<u64, Error>;
    /// How many clients have called so often, or more.
    fn count(&self, calls: u64) -> Result<u64, Error>;
}
