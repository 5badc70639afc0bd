//! Disks by a section that client and server share.

use cairn::Error;

/// The way to a disk for many blocks at a time: requests and answers lie in a section that client and server share, of which
/// `lib/queue` says how it is laid out; one call serves all requests that are there.
#[cairn::interface]
pub trait BlockQueue {
    /// Makes the queue empty. The value is the number of this beginning, by which `submit` knows that it serves the queue that its
    /// caller means: a later life of the server does not know it. `Busy`: a thread is in `submit`.
    fn begin(&self) -> Result<u64, Error>;
    /// Serves requests until there are none, but no more than 128; how many were answered. If that is 128, there may be more, and
    /// nobody but the caller has them served, whoever was told that a thread is in it. `NotFound`: another beginning, or none; `Busy`:
    /// another thread is in it, which serves them; `Malformed`: the client wrote indexes that cannot be, and has to begin again;
    /// `Cancelled`: the thread was called home, and the client has to begin again.
    fn submit(&self, beginning: u64) -> Result<u64, Error>;
}
