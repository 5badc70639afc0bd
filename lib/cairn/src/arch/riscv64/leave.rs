//! Calls that do not come back.
#![allow(unsafe_code)]

use super::form::call_in_place;
use crate::panic::MESSAGE_WORDS;
use cairn_abi::domain::PORTAL_RETURN;
use cairn_abi::privileged::PORTAL_SWITCH;
use core::arch::asm;

/// Scheduler: runs another thread, which finds `status` and `value` if it had called. What the caller
/// of this had on its stack is abandoned. A bad index is a fault of this component.
#[inline(always)]
pub fn switch(thread: u64, status: i64, value: u64) -> ! {
    // SAFETY: the portal does not come back. No destructor is owed: what is abandoned is forgotten.
    unsafe {
        asm!(
            call_in_place!("li t0, {index}"),
            index = const PORTAL_SWITCH,
            in("a0") status,
            in("a1") value,
            in("a2") thread,
            options(noreturn)
        )
    }
}

/// Of a component that runs to completion: leaves the present call or upcall with this reply, from
/// however deep. What the caller of this had on its stack is abandoned.
#[inline(always)]
pub fn reply(status: i64, value: u64) -> ! {
    // SAFETY: what the return stub does, without the way back to it; the return portal does not come
    // back, and brings the client's own stack. No destructor is owed: what is abandoned is forgotten.
    unsafe {
        asm!(
            call_in_place!("li t0, {index}"),
            index = const PORTAL_RETURN,
            in("a0") status,
            in("a1") value,
            options(noreturn)
        )
    }
}

/// A breakpoint, a fault of this component, with `mark` in `t0`, which tells it from other breakpoints, and the words
/// in `a0` to `a7`, then `s2` to `s9`.
pub(crate) fn fault_with(mark: u64, words: &[u64; MESSAGE_WORDS]) -> ! {
    // SAFETY: loads registers and faults; nothing runs afterwards.
    unsafe {
        asm!(
            "ld a0, 0(t1)", "ld a1, 8(t1)", "ld a2, 16(t1)", "ld a3, 24(t1)",
            "ld a4, 32(t1)", "ld a5, 40(t1)", "ld a6, 48(t1)", "ld a7, 56(t1)",
            "ld s2, 64(t1)", "ld s3, 72(t1)", "ld s4, 80(t1)", "ld s5, 88(t1)",
            "ld s6, 96(t1)", "ld s7, 104(t1)", "ld s8, 112(t1)", "ld s9, 120(t1)",
            "ebreak",
            in("t0") mark,
            in("t1") words.as_ptr(),
            options(noreturn)
        );
    }
}
