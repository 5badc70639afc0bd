//! The supervisor.

use cairn::{Caller, Error, InstanceId};

/// What a shell asks for.
#[cairn::interface]
pub trait Supervisor {
    /// Kills an instance by name.
    fn kill(&self, name: &str) -> Result<(), Error>;
    /// Starts an instance that is dead, or kills it first.
    fn restart(&self, name: &str) -> Result<(), Error>;
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
