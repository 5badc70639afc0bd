//! The name server.

use cairn::{Error, InstanceId};

/// Names of exports: what a shell lists, and what the portal manager asks.
#[cairn::interface]
pub trait Names {
    /// Finds an export by its name `instance.export`, or a name added at run time, for a
    /// client, and applies the access policy. The value is its number: an index into the record's
    /// exports, or [`RUN_TIME_NAMES`] and above. `NotFound`, `NotAllowed`; `WouldBlock`: the server
    /// decides, and has not yet.
    fn look_up(&self, client: InstanceId, name: &[u8]) -> Result<u64, Error>;
    /// The next name at or behind position `number` as text (name, interface, policy, separated by
    /// spaces), `NotFound` behind the last; the value is the length, and the position of the one
    /// after it.
    fn list(&self, number: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
    /// Describes method `number` of the export `name` as text: its name, its parameter letters and the
    /// kind of its value (a `descriptor::VALUE_*`, decimal), separated by spaces, and behind another, where
    /// there is something to say, what words of it mean (`record::Method::meanings`). `NotFound`: no such
    /// name, or behind its last method. The value is the length of the text.
    fn describe_method(&self, name: &str, number: u64, text: &mut [u8]) -> Result<usize, Error>;
}

/// Numbers from here on name what was added at run time.
pub const RUN_TIME_NAMES: u64 = 1 << 32;

/// What only the portal manager may ask for.
#[cairn::interface]
pub trait NameControl {
    /// Adds a name at run time, for a server, which must begin with the server's instance
    /// name and a dot; `policy` is `*` or instance names separated by spaces. The value is its
    /// number, which is never used again. `Busy`: the name is taken.
    fn add(&self, server: InstanceId, name: &str, policy: &str) -> Result<u64, Error>;
    /// What a server decided: whether a client may open a name that the server added.
    fn admit(
        &self,
        server: InstanceId,
        name: &str,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error>;
    /// Takes a name back that the server added; the value is its number.
    fn remove(&self, server: InstanceId, name: &str) -> Result<u64, Error>;
    /// Takes all names of a server back; the value is how many.
    fn remove_all(&self, server: InstanceId) -> Result<u64, Error>;
    /// There is a new instance, as the record has it. No policy of the description means it, but "*". `Busy`: its number is another's.
    fn add_domain(&self, instance: InstanceId) -> Result<(), Error>;
    /// An instance is no more: its names are nobody's, and no policy means who comes next under its number.
    fn retire_domain(&self, instance: InstanceId) -> Result<(), Error>;
}
