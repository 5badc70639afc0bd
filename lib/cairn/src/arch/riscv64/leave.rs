//! Calls that do not come back.
#![allow(unsafe_code)]

use super::form::call_in_place;
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

/// The calling thread abandons what it has on its stack, and begins anew as a first thread does: here, with this as the end of its stack, and to return to there.
#[inline(always)]
pub(crate) fn begin_at(entry: u64, stack: u64, stub: u64) -> ! {
    // SAFETY: the caller has these of the record, in which the memory manager alone writes: where the first thread of this instance begins, what its content returns to,
    // and a stack that no other thread has. No destructor is owed: what is abandoned is forgotten.
    unsafe {
        asm!(
            "mv sp, {stack}",
            "mv ra, {stub}",
            "jr {entry}",
            stack = in(reg) stack,
            stub = in(reg) stub,
            entry = in(reg) entry,
            options(noreturn)
        )
    }
}

/// A breakpoint, a fault of this component, that is told from others as a panic with the message at this address.
pub(crate) fn panic_with(message: u64, length: usize) -> ! {
    // SAFETY: loads registers and faults; nothing runs afterwards.
    unsafe {
        asm!(
            "ebreak",
            in("t0") cairn_abi::startup::PANIC_MARK,
            in("a0") message,
            in("a1") length,
            options(noreturn)
        );
    }
}
