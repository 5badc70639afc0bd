//! How a thread begins and ends on a stack of its component.
#![allow(unsafe_code)]

use super::form::call_in_place;
use crate::thread::stack::{Control, run};
use core::arch::naked_asm;

/// A thread's first and last instructions. It takes the ticket before it touches the stack, and frees
/// the stack when it has left it.
#[unsafe(naked)]
pub(crate) extern "C" fn begin(control: &'static Control) {
    naked_asm!(
        "addi t0, a0, 8",               // the ticket
        ".option push",
        ".option arch, +a",             // the target has it, this assembler does not know
        "amoswap.d.aq t0, zero, (t0)",
        ".option pop",
        "beqz t0, 1f",
        "mv s0, a0",
        "call {run}",
        "fence rw, w",
        "sd a0, 0(s0)",                 // the state
        "1:",
        call_in_place!("li t0, 0"),     // the return portal: the thread ends
        run = sym run,
    )
}
