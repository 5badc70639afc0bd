//! The portal manager: the only component that changes portal tables after the start.

use cairn::{Caller, CallerThread, Error, Object};
use crate::{Lock, Semaphore};

/// What every component may ask for.
#[cairn::interface]
pub trait Portals {
    /// Opens an export, named `instance.export`, of the interface version that the caller knows (0:
    /// any). The value is the index of the first of a consecutive block of portals, one per method.
    fn open(&self, caller: Caller, name: &str, version: u64) -> Result<u64, Error>;
    /// Closes a block of portals that `open` or a server made: its entries are cleared at once, its
    /// code is kept until no invocation stack names it.
    fn close(&self, caller: Caller, first: u64) -> Result<(), Error>;
    /// For a server: takes back what a client (by domain, 0: all) opened of one of its exports.
    fn revoke(&self, caller: Caller, export: &str, client: u64) -> Result<u64, Error>;
    /// For a server, while the client's thread is inside it: makes an object of its object
    /// interface called `interface`, with `control` embedded. The value is the first index in the
    /// client's table.
    fn make_object(&self, caller: Caller, thread: CallerThread, client: u64, interface: &str, control: u64) -> Result<u64, Error>;
    /// Makes a semaphore with a first value.
    fn semaphore(&self, caller: Caller, initial: u64) -> Result<Object<dyn Semaphore>, Error>;
    /// Makes a lock.
    fn lock(&self, caller: Caller) -> Result<Object<dyn Lock>, Error>;
    /// For a server, at run time: registers an entry point under a name, with a specification for
    /// each method after the first two letters, and who may open it (`*` or instance names,
    /// separated by spaces). `layout` is 32 bytes a method: 12 of letters, 4 unused, 8 the entry.
    fn register(&self, caller: Caller, name: &str, policy: &str, methods: &[u8]) -> Result<(), Error>;
    /// Takes a registration back; portals that are open keep working until they are revoked.
    fn unregister(&self, caller: Caller, name: &str) -> Result<(), Error>;
}

/// What the supervisor and the shell ask for.
#[cairn::interface]
pub trait PortalControl {
    /// A domain died: clears the objects and registrations that it served, and forgets what it had
    /// opened. One step; 0 first, then what it answers, until 0.
    fn domain_died(&self, domain: u64, cursor: u64) -> Result<u64, Error>;
    /// A domain is about to start again: its portal table is as the layout made it, its stack
    /// queues hold the activations that no invocation stack names.
    fn domain_starts(&self, domain: u64) -> Result<(), Error>;
    /// Describes the next portal of a domain from `index` on as text, `NotFound` behind the last; the
    /// value is the length of the text, and the index in the upper 32 bits.
    fn describe(&self, domain: u64, index: u64, text: &mut [u8]) -> Result<u64, Error>;
    /// Bytes of portal code in use, and free in the upper 32 bits.
    fn usage(&self) -> Result<u64, Error>;
}
