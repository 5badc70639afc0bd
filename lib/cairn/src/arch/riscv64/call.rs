//! The call instruction.
//!
//! Index in `t0`, arguments in `a0` to `a7`, return address in `ra`, `ecall`: it behaves as a jump
//! to a procedure that returns to `ra`. So a stub is `li t0, INDEX; ecall`, reached by `call`, and
//! to the compiler a portal call is a call by the C convention.
//!
//! Every `ecall` of a component has one form, `li t0, INDEX; ecall; j .`, and is noted in its file (`form.rs`), by which
//! the host tool finds it (`loader/src/calls.rs`). There is a stub for each method of an import that is called, 16
//! bytes at a multiple of 16, and one without the `li` for all calls whose index is known only when they are made. What
//! does not come back (`leave.rs`) has the form where it stands: a jump to a stub would be one instruction more.
#![allow(unsafe_code)]

use super::form::call_stub;
use super::preserved::{load_preserved, save_preserved};
use crate::call::{REGISTERS, REPLY_WORDS};
use crate::expansion::Wide;
use cairn_abi::descriptor::{METHODS_MAXIMUM, Reply};
use cairn_abi::privileged::PORTAL_SET_TIMER;
use core::arch::{asm, naked_asm};
use core::mem::{MaybeUninit, transmute};

core::arch::global_asm!(
    ".pushsection .text.cairn_portal_call, \"ax\"",
    ".balign 16",
    ".globl cairn_portal_call",
    ".hidden cairn_portal_call",
    "cairn_portal_call:",
    call_stub!(""),
    ".popsection",
);

unsafe extern "C" {
    /// The `ecall`; a call of this calls the portal in `t0`. Rust never does.
    #[link_name = "cairn_portal_call"]
    pub(super) fn portal_call();
}

/// The stub of a method of an import. Its caller knows what its parameters are.
pub(crate) type Stub = unsafe extern "C" fn();
/// Those of an import; none behind its last method.
pub(crate) type Stubs = [Option<Stub>; METHODS_MAXIMUM];

/// A section of its own holds each, so the first `.balign` adds nothing and those that are not called are not linked.
#[unsafe(naked)]
unsafe extern "C" fn stub<const FIRST: u32, const METHOD: u32>() {
    naked_asm!(
        call_stub!("li t0, {first} + {method}"),
        first = const FIRST,
        method = const METHOD,
    )
}

/// The stubs of an import whose first portal is `FIRST`.
pub(crate) const fn stubs<const FIRST: u32, const METHODS: u32>(
    minimal: bool,
) -> Option<&'static Stubs> {
    macro_rules! of_each_method {
        ($stub:ident) => {
            of_each_method!($stub: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)
        };
        ($stub:ident: $($method:literal)*) => {
            const {
                &[$(if $method < METHODS { Some($stub::<FIRST, $method> as Stub) } else { None }),*]
            }
        };
    }
    Some(if minimal { of_each_method!(minimal_stub) } else { of_each_method!(stub) })
}

/// The same for a portal with the state letter `m`. Its callee is trusted to keep the registers
/// that the convention preserves; when the call fails (the callee died), its registers are lost. So they are
/// kept on the stack, and only a failed call loads them again. The portal itself keeps `sp`.
macro_rules! minimal {
    ($stub:path) => {
        naked_asm!(
            save_preserved!(),
            "jal {call}",
            "ld ra, 0(sp)",
            "bgez a0, 1f",
            load_preserved!(),
            "1:",
            "addi sp, sp, 128",
            "ret",
            call = sym $stub,
        )
    };
}

/// Of the portal in `t0`.
#[unsafe(naked)]
extern "C" fn portal_call_minimal() {
    minimal!(portal_call)
}

#[unsafe(naked)]
unsafe extern "C" fn minimal_stub<const FIRST: u32, const METHOD: u32>() {
    minimal!(stub::<FIRST, METHOD>)
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

/// Calls a method of an import by its stub, with only the registers that the method has: `a0`, which the portal fills
/// in, has any number.
#[inline(always)]
pub(crate) fn invoke_stub<const WORDS: usize>(stub: Stub, words: &[u64; REGISTERS]) -> Reply {
    macro_rules! with {
        ($($number:literal)*) => {{
            type Function =
                unsafe extern "C" fn(MaybeUninit<u64> $(, with!(@word $number))*) -> Reply;
            // SAFETY: a stub is a jump into a portal, which has any parameters, keeps the C convention, and touches no
            // memory but the buffers that the arguments name, which `Call` borrows.
            unsafe { transmute::<Stub, Function>(stub)(MaybeUninit::uninit() $(, words[$number])*) }
        }};
        (@word $number:literal) => { u64 };
    }
    match WORDS {
        0 | 1 => with!(),
        2 => with!(1),
        3 => with!(1 2),
        4 => with!(1 2 3),
        5 => with!(1 2 3 4),
        6 => with!(1 2 3 4 5),
        7 => with!(1 2 3 4 5 6),
        _ => with!(1 2 3 4 5 6 7),
    }
}

invoke!(invoke, portal_call);
invoke!(invoke_minimal, portal_call_minimal);

macro_rules! wide_call {
    (($call:literal, $($how:tt)*), $words:ident $(, $register:tt $number:literal)*) => {{
        let status: i64;
        let (first, second, third, fourth);
        // SAFETY: as above.
        unsafe {
            asm!(
                $call,
                $($how)*
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
    ($name:ident, $parameter:ident: $type:ty, $how:tt) => {
        /// The same for a reply of several words.
        #[inline(always)]
        pub(crate) fn $name<const WORDS: usize>(
            $parameter: $type,
            words: &[u64; REGISTERS],
        ) -> (i64, [u64; REPLY_WORDS]) {
            match WORDS {
                0..=5 => wide_call!($how, words),
                6 => wide_call!($how, words, "a5" 5),
                7 => wide_call!($how, words, "a5" 5, "a6" 6),
                _ => wide_call!($how, words, "a5" 5, "a6" 6, "a7" 7),
            }
        }
    };
}

invoke_wide!(invoke_wide, index: u64, ("call {stub}", stub = sym portal_call, in("t0") index,));
invoke_wide!(
    invoke_wide_minimal,
    index: u64,
    ("call {stub}", stub = sym portal_call_minimal, in("t0") index,)
);
invoke_wide!(invoke_wide_stub, stub: Stub, ("jalr {stub}", stub = in(reg) stub,));

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
    type Function = unsafe extern "C" fn(u64);
    // SAFETY: the portal has no parameter but this word and changes what any function may. No register is loaded that it
    // does not read: this is on the way of most timer interrupts.
    unsafe { transmute::<Stub, Function>(stub::<{ PORTAL_SET_TIMER as u32 }, 0>)(time) }
}
