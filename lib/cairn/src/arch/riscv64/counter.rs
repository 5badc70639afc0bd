//! The hart's counters (unprivileged manual, section 10.1), which the nucleus opens to user mode.
#![allow(unsafe_code)]

use core::arch::asm;

#[inline(always)]
pub(crate) fn time() -> u64 {
    let ticks;
    // SAFETY: reads a counter.
    unsafe { asm!("rdtime {0}", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

#[inline(always)]
pub(crate) fn instructions() -> u64 {
    let count;
    // SAFETY: as above. Not `nomem`: what is measured stays where it is.
    unsafe { asm!("rdinstret {0}", out(reg) count, options(nostack, preserves_flags)) };
    count
}
