//! Executes an illegal instruction, which is not the supervisor mode's to handle at once: the firmware looks at it first.
#![no_std]
#![no_main]

use core::arch::asm;

cairn::component! {
    name: "illegal",
    main: main,
}

fn main() {
    // SAFETY: none. A register that user mode does not have: firmware takes longest to see that it cannot help.
    unsafe { asm!("csrr a0, sstatus", options(nostack)) };
}
