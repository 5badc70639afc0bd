//! What the components of this test agree on.
#![no_std]
#![forbid(unsafe_code)]

use cairn::Error;

/// Has one stack for each client.
#[cairn::interface]
pub trait Gate {
    /// Comes back when this server's own thread has taken this export back, or has let the server die.
    fn hold(&self) -> Result<u64, Error>;
}
