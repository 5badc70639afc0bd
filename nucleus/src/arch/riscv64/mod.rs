//! RISC-V 64, supervisor mode, Sv39: the assembly of the nucleus and the numbers it uses.

use core::arch::{asm, global_asm};

// One block for all files, so that each number is defined once.
global_asm!(
    ".option norvc",
    ".option norelax",
    // What others know as well (abi/src/constants.rs).
    include_str!(concat!(env!("OUT_DIR"), "/constants.S")),
    // Privileged manual, section 4.1.1; cleared at boot: SIE, SPIE, UBE, SPP, VS, FS, SUM, MXR.
    ".equ SSTATUS_CLEAR, 1 << 1 | 1 << 5 | 1 << 6 | 1 << 8 | 3 << 9 | 3 << 13 | 1 << 18 | 1 << 19",
    // Section 4.1.10; the assembler does not know its name.
    ".equ SENVCFG, 0x10a",
    // Sstc extension, chapter 2.
    ".equ STIMECMP, 0x14d",
    // Of the stack on which the services in Rust run, one per hart.
    ".equ NUCLEUS_STACK_SIZE, 4096",
    include_str!("boot.S"),
    include_str!("trap.S"),
    include_str!("window.S"),
    include_str!("privileged.S"),
    include_str!("kernel.S"),
    include_str!("float.S"),
);

unsafe extern "C" {
    /// The code that a trap frame names as its return portal; never called as a function.
    fn trap_return();
    /// Where functions in the kernel domain return to; never called as a function.
    fn kernel_return();
    /// Where those return to that were called inside the kernel domain, and where instead, if the caller has died; never called
    /// as functions.
    fn kernel_inside_return();
    fn kernel_inside_dead();
    /// Where calls from there begin whose index is in a register; never called as a function.
    fn kernel_call();
}

/// Address of where functions in the kernel domain return to.
pub fn kernel_return_address() -> u64 {
    kernel_return as *const () as u64
}

/// Address of where functions return to that were called inside the kernel domain.
pub fn kernel_inside_return_address() -> u64 {
    kernel_inside_return as *const () as u64
}

/// Address of what such a call's frame returns to when the caller has died.
pub fn kernel_inside_dead_address() -> u64 {
    kernel_inside_dead as *const () as u64
}

/// Whether who is stopped at this address comes back from such a call, its frame not yet taken off: before the third
/// instruction.
pub fn comes_back_inside(address: u64) -> bool {
    address.wrapping_sub(kernel_inside_return_address()) <= 8
}

/// Address of where calls from there begin whose index is in a register.
pub fn kernel_call_address() -> u64 {
    kernel_call as *const () as u64
}

/// Address of the code that resumes a thread from a trap frame.
pub fn trap_return_address() -> u64 {
    trap_return as *const () as u64
}

/// The last trap: its cause, where it came from, its value.
pub fn last_trap() -> (u64, u64, u64) {
    let (cause, pc, value);
    // SAFETY: reads three registers.
    unsafe {
        asm!("csrr {0}, scause", "csrr {1}, sepc", "csrr {2}, stval",
            out(reg) cause, out(reg) pc, out(reg) value);
    }
    (cause, pc, value)
}
