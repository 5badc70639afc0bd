//! Threads that begin nowhere, and calls that never end.
#![allow(unsafe_code)] // A thread's first instructions, and starts that no `Stack` made.

use crate::SPAWN;
use crate::imports::{PORTALS, THREADS};
use cairn::Error;
use cairn_test_hostile_contract::{Attacker, attack};
use cairn_test_hostile_machine as machine;
use core::arch::naked_asm;

/// Starts a thread anywhere; its status and name.
pub fn spawn(entry: u64, stack: u64, priority: u64) -> (i64, u64) {
    machine::call(
        u64::from(THREADS.first_portal()) + SPAWN,
        [0, 0, 0, entry, stack, 0, priority, 0],
    )
}

/// The return portal at the bottom of a thread: the thread ends.
#[unsafe(naked)]
extern "C" fn leave() {
    naked_asm!("li t0, 0", "ecall")
}

#[unsafe(naked)]
extern "C" fn nothing() {
    naked_asm!("ret")
}

/// Begins no thread that outlives it, but for faults.
pub fn start(what: u64, second: u64) -> Result<u64, Error> {
    let (entry, stack) = match what {
        0 => (leave as *const () as u64, 0),
        1 => (second, 0),
        _ => (nothing as *const () as u64, second),
    };
    let (status, name) = spawn(entry, stack, 5);
    if status != 0 {
        return Err(Error::from_status(status));
    }
    THREADS.join(name).map(|()| 0)
}

/// Opens a portal to itself; the status.
pub fn call_itself() -> Result<u64, Error> {
    match PORTALS.open_proxy::<dyn Attacker>("attacker.attacker") {
        Ok(own) => own.attack(attack::CALL_ITSELF, 0, 0),
        Err(error) => Ok(error.status() as u64),
    }
}
