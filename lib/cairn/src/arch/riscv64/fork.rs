//! Where a component and its copy part: all that a function finds again when it is returned to lies on the stack, which is copied.
#![allow(unsafe_code)]

use crate::fork::{Point, Side};
use crate::{Error, InstanceId};
use core::arch::naked_asm;

/// Calls `make` with `context` and the stack pointer, below which is nothing that is needed; the value is 0. In a copy of all memory
/// a thread that begins at [`begins`] with this stack pointer returns from here, too: with 1.
///
/// # Safety
/// `make` may be called with `context`.
#[unsafe(naked)]
unsafe extern "C" fn part(make: extern "C" fn(*mut u8, u64), context: *mut u8) -> u64 {
    naked_asm!(
        "addi sp, sp, -112",
        "sd ra, 0(sp)",
        "sd s0, 8(sp)",
        "sd s1, 16(sp)",
        "sd s2, 24(sp)",
        "sd s3, 32(sp)",
        "sd s4, 40(sp)",
        "sd s5, 48(sp)",
        "sd s6, 56(sp)",
        "sd s7, 64(sp)",
        "sd s8, 72(sp)",
        "sd s9, 80(sp)",
        "sd s10, 88(sp)",
        "sd s11, 96(sp)",
        "sd gp, 104(sp)",
        "mv t0, a0",
        "mv a0, a1",
        "mv a1, sp",
        "jalr t0",
        // The others are as they were, by the C convention.
        "ld ra, 0(sp)",
        "addi sp, sp, 112",
        "li a0, 0",
        "ret",
    )
}

/// The first instruction of the copy's thread.
#[unsafe(naked)]
extern "C" fn begins() {
    naked_asm!(
        "ld ra, 0(sp)",
        "ld s0, 8(sp)",
        "ld s1, 16(sp)",
        "ld s2, 24(sp)",
        "ld s3, 32(sp)",
        "ld s4, 40(sp)",
        "ld s5, 48(sp)",
        "ld s6, 56(sp)",
        "ld s7, 64(sp)",
        "ld s8, 72(sp)",
        "ld s9, 80(sp)",
        "ld s10, 88(sp)",
        "ld s11, 96(sp)",
        "ld gp, 104(sp)",
        "addi sp, sp, 112",
        "li a0, 1",
        "ret",
    )
}

/// What is made, and whether it was.
struct Making<F> {
    make: Option<F>,
    made: Result<InstanceId, Error>,
}

extern "C" fn run<F: FnOnce(Point) -> Result<InstanceId, Error>>(context: *mut u8, stack: u64) {
    // SAFETY: it is what `split` has on its stack, and nobody else uses until this returns.
    let making = unsafe { &mut *context.cast::<Making<F>>() };
    if let Some(make) = making.make.take() {
        making.made = make(Point { begins: begins as *const () as u64, stack });
    }
}

/// See [`crate::fork::split`]. Not inlined: what the caller has in registers is on the stack, or in those that `part` keeps.
#[inline(never)]
pub(crate) fn split<F: FnOnce(Point) -> Result<InstanceId, Error>>(make: F) -> Result<Side, Error> {
    let mut making = Making { make: Some(make), made: Err(Error::Unknown) };
    // SAFETY: `run` is called with what it expects.
    match unsafe { part(run::<F>, (&raw mut making).cast()) } {
        0 => making.made.map(Side::Parent),
        _ => Ok(Side::Child),
    }
}
