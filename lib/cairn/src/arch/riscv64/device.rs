//! The order of memory and device registers (unprivileged manual, section 2.7).
#![allow(unsafe_code)]

use core::arch::asm;

#[inline(always)]
pub(crate) fn device_fence() {
    // SAFETY: changes nothing; without `nomem` the compiler moves no access across it either.
    unsafe { asm!("fence iorw, iorw", options(nostack, preserves_flags)) };
}
