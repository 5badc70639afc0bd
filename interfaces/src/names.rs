//! The name server.

use cairn::Error;

/// Names of exports. The portal manager asks it; a shell lists it.
#[cairn::interface]
pub trait Names {
    /// Finds an export by its name `instance.export` for a client domain, applying the access policy;
    /// the value is its number. `NotFound`, `NotAllowed`.
    fn look_up(&self, client: u64, name: &str) -> Result<u64, Error>;
    /// Adds a name at run time, for a server domain; the value is its number. `Busy`: the name is
    /// taken.
    fn add(&self, server: u64, name: &str, policy: &str) -> Result<u64, Error>;
    /// Takes a name back that the server domain added.
    fn remove(&self, server: u64, name: &str) -> Result<(), Error>;
    /// Takes all names of a server domain back; the value is how many.
    fn remove_all(&self, server: u64) -> Result<u64, Error>;
    /// The next name at or behind position `number` as text (name, interface, policy, separated by
    /// spaces), `NotFound` behind the last; the value is the length, and the position of the one
    /// after it in the upper 32 bits.
    fn list(&self, number: u64, text: &mut [u8]) -> Result<u64, Error>;
}
