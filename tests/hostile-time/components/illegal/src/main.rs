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
        // What firmware looks at longest.
        // SAFETY: it reads a register; one that user mode does not have, so it faults.
        unsafe { asm!("csrr {}, sstatus", out(reg) _, options(nomem, nostack)) };
        Ok(0)
    }
}
