//! A server that executes an illegal instruction, which the firmware gets first: it decodes it with interrupts off, and
//! then hands it down.
#![no_std]
#![no_main]

use cairn::Error;
use cairn_test_hostile_beat::Spinner;
use core::arch::asm;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-illegal",
    exports: { spinner: Spinner = SERVER },
}

impl Spinner for Server {
    fn spin(&self) -> Result<u64, Error> {
        // SAFETY: none. A register that user mode does not have: what firmware looks at longest.
        unsafe { asm!("csrr a0, sstatus", options(nostack)) };
        Ok(0)
    }
}
