//! Reading the counters (unprivileged manual, section 10.1) right before and behind what is measured.
#![allow(unsafe_code)]

use super::form::call_in_place;
use super::preserved::{load_preserved, save_preserved};
use crate::measure::{Mark, Sample, Stamp};
use core::arch::{asm, naked_asm};

#[inline(always)]
pub(crate) fn begin() -> Stamp {
    let (cycles, instructions);
    // SAFETY: reads counters that the nucleus opens to user mode. Not `nomem`: what is measured
    // stays where it is.
    unsafe {
        asm!(
            "rdinstret {0}", "rdcycle {1}",
            out(reg) instructions, lateout(reg) cycles, options(nostack, preserves_flags)
        )
    };
    Stamp { cycles, instructions }
}

#[inline(always)]
pub(crate) fn end() -> Stamp {
    let (cycles, instructions);
    // SAFETY: as above.
    unsafe {
        asm!(
            "rdcycle {0}", "rdinstret {1}",
            out(reg) cycles, lateout(reg) instructions, options(nostack, preserves_flags)
        )
    };
    Stamp { cycles, instructions }
}

/// The measured sequence. `begin` is also stored at the mark, for the thread that runs next. Everything that
/// the C convention preserves is kept here: the callee may not keep it. The fence waits until the
/// stores of `begin` are done, which are not the call's; the alignment gives every sequence the same
/// cache lines.
macro_rules! sequence {
    ($name:ident, $instruction:expr) => {
        #[unsafe(naked)]
        pub(crate) extern "C" fn $name(
            target: u64,
            words: &[u64; 8],
            mark: &Mark,
            sample: &mut Sample,
        ) {
            naked_asm!(
                ".balign 64",
                save_preserved!(),
                "sd a3, 120(sp)",
                "mv t0, a0",
                "mv t1, a1",
                "mv t2, a2",
                "mv t3, a3",
                "ld a0, 0(t1)",
                "ld a1, 8(t1)",
                "ld a2, 16(t1)",
                "ld a3, 24(t1)",
                "ld a4, 32(t1)",
                "ld a5, 40(t1)",
                "ld a6, 48(t1)",
                "ld a7, 56(t1)",
                "lla ra, 1f",
                "rdinstret t1",
                "sd t1, 8(t2)",
                "sd t1, 8(t3)",
                "rdcycle t1",
                "sd t1, 0(t2)",
                "sd t1, 0(t3)",
                "fence rw, rw",
                $instruction,
                "1: rdcycle t1",
                "rdinstret t3",
                "ld t2, 120(sp)",
                "sd t1, 16(t2)",
                "sd t3, 24(t2)",
                "sd a0, 32(t2)",
                "sd a1, 40(t2)",
                "ld ra, 0(sp)",
                load_preserved!(),
                "addi sp, sp, 128",
                "ret",
            )
        }
    };
}

// The call has the form of all (`call.rs`), and comes back by `ra`.
sequence!(through_portal, call_in_place!());
sequence!(through_function, "jalr t0");
sequence!(through_nothing, "");

/// Stores a stamp at the mark and then reads address 0, which no domain maps: a page fault, after which
/// nothing of this call runs. Up to there the instructions are those of a measured call.
#[unsafe(naked)]
pub extern "C" fn page_fault(mark: &Mark) -> u64 {
    naked_asm!(
        ".balign 64",
        "rdinstret t1",
        "sd t1, 8(a0)",
        "sd t1, 8(a0)",
        "rdcycle t1",
        "sd t1, 0(a0)",
        "sd t1, 0(a0)",
        "fence rw, rw",
        "ld a0, 0(zero)",
        "ret",
    )
}
