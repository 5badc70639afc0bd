//! The entry point of an interposer, and the call with which it passes on what came.
#![allow(unsafe_code)]

use super::call::portal_call;
use crate::call::{REGISTERS, REPLY_WORDS};
use crate::interpose::{Interposer, serve};
use core::arch::{asm, naked_asm};

/// Puts the argument registers of whatever method was called into memory, and the five of an answer back.
#[unsafe(naked)]
pub(crate) extern "C" fn entrance<I: Interposer>() {
    naked_asm!(
        "addi sp, sp, -80",
        "sd a0, 0(sp)",
        "sd a1, 8(sp)",
        "sd a2, 16(sp)",
        "sd a3, 24(sp)",
        "sd a4, 32(sp)",
        "sd a5, 40(sp)",
        "sd a6, 48(sp)",
        "sd a7, 56(sp)",
        "sd ra, 64(sp)",
        "mv a0, sp",
        "call {serve}",
        "ld a0, 0(sp)",
        "ld a1, 8(sp)",
        "ld a2, 16(sp)",
        "ld a3, 24(sp)",
        "ld a4, 32(sp)",
        "ld ra, 64(sp)",
        "addi sp, sp, 80",
        "ret",
        serve = sym serve::<I>,
    )
}

/// Calls a portal with these registers, but for the first, which it fills in.
#[inline(always)]
pub(crate) fn pass_on(index: u64, words: &[u64; REGISTERS]) -> (i64, [u64; REPLY_WORDS]) {
    let status: i64;
    let (first, second, third, fourth);
    // SAFETY: the portal keeps the C convention (`clobber_abi`), and touches no memory but what the client passed: windows and
    // copies that no program has as its own data. The asm is a memory barrier, since it is not `nomem`.
    unsafe {
        asm!(
            "call {stub}",
            stub = sym portal_call,
            in("t0") index,
            lateout("a0") status,
            inlateout("a1") words[1] => first,
            inlateout("a2") words[2] => second,
            inlateout("a3") words[3] => third,
            inlateout("a4") words[4] => fourth,
            in("a5") words[5],
            in("a6") words[6],
            in("a7") words[7],
            clobber_abi("C"),
        );
    }
    (status, [first, second, third, fourth])
}
