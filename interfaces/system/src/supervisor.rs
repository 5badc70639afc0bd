//! The supervisor.

use cairn::{Caller, Error, InstanceId};

/// What a shell asks for.
#[cairn::interface]
pub trait Supervisor {
    /// Kills an instance by name.
    fn kill(&self, name: &str) -> Result<(), Error>;
    /// Starts an instance that is dead, or kills it first.
    fn restart(&self, name: &str) -> Result<(), Error>;
    /// Ends an instance for good, one of the description or one that was loaded, with those in its domain and all that they have loaded: nothing of them is left
    /// when this comes back. `Busy`: another is connected to one of them ([`Supervisor::user_of`]); `NotAllowed`: the system ends with it;
    /// `NotSupported`: it moves, or nobody can silence its devices, or the system cannot make instances.
    fn retire(&self, name: &str) -> Result<(), Error>;
    /// The name of an instance whose imports lead to the named one, or to one in its domain, as text; the value is its length. `NotFound`: there is none, or it
    /// does not live any more.
    fn user_of(&self, name: &str, text: &mut [u8]) -> Result<usize, Error>;
    /// Describes the next instance from number `number` on as text, `NotFound` behind the last; the
    /// value is the length, and the number.
    fn describe(&self, number: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
    /// Describes the next thread from `index` on, as above.
    fn describe_thread(&self, index: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
    /// Microseconds that threads ran which began in an instance and have ended.
    fn time_ended(&self, instance: InstanceId) -> Result<u64, Error>;
    /// Makes the named instance fault at its next instruction.
    fn crash(&self, name: &str) -> Result<(), Error>;
    /// Calls a thread of the caller's home that is in other components: its waits are cancelled, and a callee that
    /// keeps it all the same dies, as if the caller had died. `thread` is its name, as `Threads::spawn` answers.
    fn call_home(&self, caller: Caller, thread: u64) -> Result<(), Error>;
    /// Halts the machine with an exit status of at most 255.
    fn halt(&self, status: u64) -> Result<(), Error>;
    /// Reboots the machine.
    fn reboot(&self) -> Result<(), Error>;
}
