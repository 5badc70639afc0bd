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

/// The time, read behind the read of the run clock that gave `now`.
#[inline(always)]
pub(crate) fn time_behind(now: u64) -> u64 {
    let ticks;
    // SAFETY: reads a counter.
    unsafe {
        asm!("rdtime {0} # {1}", lateout(reg) ticks, in(reg) now, options(nomem, nostack, preserves_flags))
    };
    ticks
}

/// The host tool makes this a read of `cycle` on boards whose descriptions say so: the section tells it where.
#[inline(always)]
pub(crate) fn run_clock() -> u64 {
    let count;
    // SAFETY: reads a counter; the section is not loaded.
    unsafe {
        asm!(
            "1: rdtime {0}",
            ".pushsection .cairn.run_clock",
            ".dword 1b",
            ".popsection",
            out(reg) count,
            options(nomem, nostack, preserves_flags)
        );
    }
    count
}

#[inline(always)]
pub(crate) fn instructions() -> u64 {
    let count;
    // SAFETY: as above. Not `nomem`: what is measured stays where it is.
    unsafe { asm!("rdinstret {0}", out(reg) count, options(nostack, preserves_flags)) };
    count
}
