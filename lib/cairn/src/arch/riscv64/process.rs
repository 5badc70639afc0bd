//! Into a process and out of it, with all its registers (`cairn_abi::process`). What the server needs on its way back is in the status page,
//! which is reached from register zero: all others are the process'.
#![allow(unsafe_code)]

use super::form::call_in_place;
use super::preserved::{load_preserved, save_preserved};
use crate::process::Registers;
use cairn_abi::domain::PORTAL_RETURN;
use cairn_abi::process::*;
use core::arch::global_asm;
use core::mem::offset_of;
// Relaxed: portal code has written the words, on this hart and before.
use core::sync::atomic::{AtomicU64, Ordering};

/// Where the server's stack pointer and the process' [`Registers`] are while that runs, and its `tp` meanwhile.
const STACK: i64 = STATUS_FREE;
const REGISTERS: i64 = STATUS_FREE + 8;
const POINTER: i64 = STATUS_FREE + 16;

/// What a process was left by, as `cairn_process_run` returns it.
pub(crate) const CALLED: u64 = 0;
pub(crate) const FAULTED: u64 = 1;

const _: () = assert!(offset_of!(Registers, counter) == 0 && offset_of!(Registers, general) == 8);

unsafe extern "C" {
    /// Returns when the process is left.
    fn cairn_process_run(registers: *mut Registers) -> u64;
    /// Where the server is entered; none is called as a function.
    fn cairn_process_called();
    fn cairn_process_faulted();
    fn cairn_process_interrupted();
}

global_asm!(
    ".pushsection .text.cairn_process, \"ax\"",
    ".balign 16",
    "cairn_process_run:",
    save_preserved!(),
    "sd sp, {STACK}(zero)",
    "sd a0, {REGISTERS}(zero)",
    // A reservation of the process that ran before is not this one's.
    "addi t0, sp, 120",
    ".option push",
    ".option arch, +a",
    "sc.d zero, zero, (t0)",
    ".option pop",
    "ld t0, 0(a0)",
    "ld t1, 5*8(a0)",
    "sd t0, {PC}(zero)",
    "sd t1, {T0}(zero)",
    ".irp number, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 10",
    "ld x\\number, \\number*8(a0)",
    ".endr",
    call_in_place!("li t0, {RETURN}"),
    ".macro cairn_process_left kind",
    "sd tp, {POINTER}(zero)",
    "ld tp, {REGISTERS}(zero)",
    "sd a0, 10*8(tp)",
    "li a0, \\kind",
    ".endm",
    "cairn_process_faulted:",
    "cairn_process_left {FAULTED}",
    "j 1f",
    "cairn_process_interrupted:",
    "cairn_process_left 2",
    "j 1f",
    "cairn_process_called:",
    "cairn_process_left {CALLED}",
    "1:",
    ".irp number, 1, 2, 3, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "sd x\\number, \\number*8(tp)",
    ".endr",
    "ld t0, {POINTER}(zero)",
    "ld t1, {PC}(zero)",
    // Who enters a process without these registers faults when he comes back.
    "sd zero, {REGISTERS}(zero)",
    "sd t0, 4*8(tp)",
    "sd t1, 0(tp)",
    "ld sp, {STACK}(zero)",
    load_preserved!(),
    "ld ra, 0(sp)",
    "addi sp, sp, 128",
    "ret",
    ".popsection",
    STACK = const STACK,
    REGISTERS = const REGISTERS,
    POINTER = const POINTER,
    PC = const STATUS_PC,
    T0 = const STATUS_T0,
    RETURN = const PORTAL_RETURN,
    CALLED = const CALLED,
    FAULTED = const FAULTED,
);

/// Where the server is entered by a call, an exception, an interrupt.
pub(crate) fn entries() -> [u64; 3] {
    [cairn_process_called, cairn_process_faulted, cairn_process_interrupted]
        .map(|entry| entry as *const () as u64)
}

/// There are no registers for a process yet, whatever a life before has left.
pub(crate) fn forget() {
    status(REGISTERS).store(0, Ordering::Relaxed);
}

/// What was written as instructions is fetched from now on.
pub(crate) fn fence_instructions() {
    // SAFETY: an instruction of user mode that changes no register and no memory (unprivileged manual, chapter "Zifencei").
    unsafe { core::arch::asm!(".insn 0x0000100f") }
}

/// Runs a process until it is left.
///
/// # Safety
/// The calling thread is the carrier.
#[inline(always)]
pub(crate) unsafe fn run(registers: &mut Registers) -> u64 {
    // SAFETY: the process reaches no memory of this instance, and the way back finds what the C convention preserves on the stack. What
    // the process does to the memory that it has is no concern of the compiler's: nobody has a reference there.
    unsafe { cairn_process_run(registers) }
}

/// A word of the status page. Only a server has that.
pub(crate) fn status(field: i64) -> &'static AtomicU64 {
    // SAFETY: who gets here is a server of processes, which has the page for good; portal code writes these words while no code of
    // this instance does.
    unsafe { AtomicU64::from_ptr(field as usize as *mut u64) }
}

/// The cause and the value of the exception by which the server was entered.
pub(crate) fn exception() -> (u64, u64) {
    let word = |field| status(field).load(Ordering::Relaxed);
    (word(STATUS_CAUSE), word(STATUS_VALUE))
}
