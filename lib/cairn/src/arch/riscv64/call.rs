//! The call instruction.
//!
//! Index in `t0`, arguments in `a0` to `a7`, return address in `ra`, `ecall`: it behaves as a jump
//! to a procedure that returns to `ra`. So the stub is the one instruction, reached by `call`, and
//! to the compiler a portal call is a call by the C convention.
#![allow(unsafe_code)]

use crate::call::{REGISTERS, REPLY_WORDS};
use crate::expansion::Wide;
use cairn_abi::descriptor::Reply;
use cairn_abi::privileged::PORTAL_SET_TIMER;
use core::arch::{asm, naked_asm};

core::arch::global_asm!(
    ".pushsection .text.cairn_portal_call, \"ax\"",
    // In one line of a cache.
    ".balign 8",
    "cairn_portal_call:",
    "ecall",
    // Never executed: a core fetches on until the `ecall` traps, and this keeps it from lines that are not in its
    // cache. CVA6 would wait for such a line and forget it, each time.
    "j .",
    ".popsection",
);

unsafe extern "C" {
    /// The `ecall`; a call of this calls the portal in `t0`. Rust never does.
    #[link_name = "cairn_portal_call"]
    fn portal_call();
}

/// The same for a portal with the state letter `m`. Its callee is trusted to keep the registers
/// that the convention preserves; when the call fails (the callee died), its registers are lost. So they are
/// kept on the stack, and only a failed call loads them again. The portal itself keeps `sp`.
#[unsafe(naked)]
extern "C" fn portal_call_minimal() {
    naked_asm!(
        "addi sp, sp, -128",
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
        "sd tp, 112(sp)",
        "jal {call}",
        "ld ra, 0(sp)",
        "bgez a0, 1f",
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
        "ld tp, 112(sp)",
        "1:",
        "addi sp, sp, 128",
        "ret",
        call = sym portal_call,
    )
}

macro_rules! call {
    ($stub:ident, $index:ident, $words:ident, none) => {
        call!(@asm $stub, $index, (lateout("a1")) ())
    };
    ($stub:ident, $index:ident, $words:ident, ($($register:tt $number:literal),*)) => {
        call!(@asm $stub, $index, (inlateout("a1") $words[1] =>) ($(in($register) $words[$number],)*))
    };
    (@asm $stub:ident, $index:ident, ($($second:tt)*) ($($others:tt)*)) => {{
        let status: i64;
        let value: u64;
        // SAFETY: the portal keeps the C convention (`clobber_abi`), and touches no memory but the
        // buffers that the arguments name, which `Call` borrows. The asm is a memory barrier, since
        // it is not `nomem`.
        unsafe {
            asm!(
                "call {stub}",
                stub = sym $stub,
                in("t0") $index,
                lateout("a0") status,
                $($second)* value,
                $($others)*
                clobber_abi("C"),
            );
        }
        Reply { status, value }
    }};
}

macro_rules! invoke {
    ($name:ident, $stub:ident) => {
        #[inline(always)]
        pub(crate) fn $name<const WORDS: usize>(index: u64, words: &[u64; REGISTERS]) -> Reply {
            // Only the registers that the method has are loaded. The match is resolved when it is
            // compiled.
            match WORDS {
                0 | 1 => call!($stub, index, words, none),
                2 => call!($stub, index, words, ()),
                3 => call!($stub, index, words, ("a2" 2)),
                4 => call!($stub, index, words, ("a2" 2, "a3" 3)),
                5 => call!($stub, index, words, ("a2" 2, "a3" 3, "a4" 4)),
                6 => call!($stub, index, words, ("a2" 2, "a3" 3, "a4" 4, "a5" 5)),
                7 => call!($stub, index, words, ("a2" 2, "a3" 3, "a4" 4, "a5" 5, "a6" 6)),
                _ => call!($stub, index, words, ("a2" 2, "a3" 3, "a4" 4, "a5" 5, "a6" 6, "a7" 7)),
            }
        }
    };
}

invoke!(invoke, portal_call);
invoke!(invoke_minimal, portal_call_minimal);

macro_rules! wide_call {
    ($stub:ident, $index:ident, $words:ident $(, $register:tt $number:literal)*) => {{
        let status: i64;
        let (first, second, third, fourth);
        // SAFETY: as above.
        unsafe {
            asm!(
                "call {stub}",
                stub = sym $stub,
                in("t0") $index,
                lateout("a0") status,
                inlateout("a1") $words[1] => first,
                inlateout("a2") $words[2] => second,
                inlateout("a3") $words[3] => third,
                inlateout("a4") $words[4] => fourth,
                $(in($register) $words[$number],)*
                clobber_abi("C"),
            );
        }
        (status, [first, second, third, fourth])
    }};
}

macro_rules! invoke_wide {
    ($name:ident, $stub:ident) => {
        /// The same for a reply of several words.
        #[inline(always)]
        pub(crate) fn $name<const WORDS: usize>(
            index: u64,
            words: &[u64; REGISTERS],
        ) -> (i64, [u64; REPLY_WORDS]) {
            match WORDS {
                0..=5 => wide_call!($stub, index, words),
                6 => wide_call!($stub, index, words, "a5" 5),
                7 => wide_call!($stub, index, words, "a5" 5, "a6" 6),
                _ => wide_call!($stub, index, words, "a5" 5, "a6" 6, "a7" 7),
            }
        }
    };
}

invoke_wide!(invoke_wide, portal_call);
invoke_wide!(invoke_wide_minimal, portal_call_minimal);

/// The entry point of a method with a value of several words. The skeleton gets a ninth argument, on the stack as the
/// C convention has it: where the words go that a C function has no registers to return.
#[unsafe(naked)]
pub(crate) extern "C" fn wide<W: Wide>(
    a0: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Reply {
    naked_asm!(
        "addi sp, sp, -48",
        "addi t0, sp, 8",
        "sd t0, 0(sp)",
        "sd ra, 40(sp)",
        "call {serve}",
        "ld a2, 8(sp)",
        "ld a3, 16(sp)",
        "ld a4, 24(sp)",
        "ld ra, 40(sp)",
        "addi sp, sp, 48",
        "ret",
        serve = sym <W as Wide>::serve,
    )
}

/// A call that passes `a0` as well.
#[inline(always)]
pub(crate) fn raw(index: u64, words: &[u64; REGISTERS]) -> Reply {
    let status: i64;
    let value: u64;
    // SAFETY: as above; the portals called this way take no memory.
    unsafe {
        asm!(
            "call {stub}",
            stub = sym portal_call,
            in("t0") index,
            inlateout("a0") words[0] => status,
            inlateout("a1") words[1] => value,
            in("a2") words[2],
            in("a3") words[3],
            in("a4") words[4],
            in("a5") words[5],
            clobber_abi("C"),
        );
    }
    Reply { status, value }
}

/// Scheduler: the time of the next timer interrupt in ticks; `u64::MAX`: none. Elsewhere nothing happens.
#[inline(always)]
pub fn set_timer(time: u64) {
    // SAFETY: the stub has no parameter but this word and changes what any function may.
    unsafe { set_timer_stub(time) }
}

/// The portal's stub, without the registers that it does not read: this is on the way of most timer interrupts.
#[unsafe(naked)]
unsafe extern "C" fn set_timer_stub(time: u64) {
    naked_asm!("li t0, {portal}", "ecall", "j .", portal = const PORTAL_SET_TIMER)
}
