//! Executes an illegal instruction, which is not the supervisor mode's to handle at once: the firmware looks at it first.
#![no_std]
#![no_main]

use core::arch::asm;

cairn::component! {
    name: "illegal",
    main: main,
}

fn main() {
    // Firmware takes longest to see that it cannot help.
    // SAFETY: it reads a register; one that user mode does not have, so it faults.
    unsafe { asm!("csrr {}, sstatus", out(reg) _, options(nomem, nostack)) };
}
