//! The privileged short-circuit portals, for the components that they are granted to; in other components they answer
//! [`Error::NoPortal`]; a server of processes has others at their indexes ([`crate::process`]).

use crate::call::raw;
use crate::{DomainId, Error};
use cairn_abi::descriptor::Reply;
use cairn_abi::privileged::*;

pub use crate::arch::call::set_timer;
pub use crate::arch::leave::{reply, switch};

pub(crate) fn done(reply: Reply) -> Result<(), Error> {
    match reply.status {
        0 => Ok(()),
        status => Err(Error::from_status(status)),
    }
}

/// Scheduler: sets up a thread.
pub fn set_up_thread(
    thread: u64,
    domain: DomainId,
    entry: u64,
    stack: u64,
    argument: u64,
    link: u64,
) -> Result<(), Error> {
    done(raw(PORTAL_SET_UP_THREAD, [thread, domain.into(), entry, stack, argument, link, 0, 0]))
}

/// Supervisor: the frame at `offset` of a thread's block returns into a dead domain.
pub fn unwind(thread: u64, offset: u64) -> Result<(), Error> {
    done(raw(PORTAL_UNWIND, [thread, offset, 0, 0, 0, 0, 0, 0]))
}

/// Supervisor: a thread faults when it returns through the call's frame at `offset` of its block. If that is the trap frame
/// of such a fault, the thread goes on at the address that it would have returned to.
pub fn divert(thread: u64, offset: u64) -> Result<(), Error> {
    done(raw(PORTAL_DIVERT, [thread, offset, 0, 0, 0, 0, 0, 0]))
}

/// Supervisor: the call at which the trap frame at `offset` of a stopped thread's block stands answers `Cancelled`: the thread goes on at
/// its return address.
pub fn refuse(thread: u64, offset: u64) -> Result<(), Error> {
    done(raw(PORTAL_REFUSE, [thread, offset, 0, 0, 0, 0, 0, 0]))
}

/// Supervisor: a domain is dead or alive.
pub fn set_alive(domain: DomainId, alive: bool) -> Result<(), Error> {
    done(raw(PORTAL_SET_ALIVE, [domain.into(), u64::from(alive), 0, 0, 0, 0, 0, 0]))
}

/// Memory manager: forgets translations of an address, or all for 0.
pub fn fence_translation(address: u64) -> Result<(), Error> {
    done(raw(PORTAL_FENCE_TRANSLATION, [address, 0, 0, 0, 0, 0, 0, 0]))
}

/// Portal manager: instructions written before are fetched after.
pub fn fence_instruction() -> Result<(), Error> {
    done(raw(PORTAL_FENCE_INSTRUCTION, [0; 8]))
}

/// Idle: waits for an interrupt.
pub fn wait() -> Result<(), Error> {
    done(raw(PORTAL_WAIT, [0; 8]))
}

/// Supervisor: halts the machine with an exit status.
pub fn halt(status: u64) -> Error {
    Error::from_status(raw(PORTAL_FIRMWARE, [0, status, 0, 0, 0, 0, 0, 0]).status)
}

/// Supervisor: the firmware prints a byte, whatever the console's driver does with the device at that time.
pub fn print(byte: u8) -> Result<(), Error> {
    done(raw(PORTAL_FIRMWARE, [2, byte.into(), 0, 0, 0, 0, 0, 0]))
}

/// Supervisor: reboots the machine.
pub fn reboot() -> Error {
    Error::from_status(raw(PORTAL_FIRMWARE, [1, 0, 0, 0, 0, 0, 0, 0]).status)
}
