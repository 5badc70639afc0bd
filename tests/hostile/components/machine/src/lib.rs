//! Calls of portals as no proxy makes them.
//!
//! They have the form of stubs, which the build demands of components that forbid unsafe code.
#![no_std]
#![cfg(target_os = "none")]

use core::arch::{asm, naked_asm};

/// Calls the portal `index` with these argument registers; answers `a0` and `a1`.
pub fn call(index: u64, words: [u64; 8]) -> (i64, u64) {
    let (status, value);
    // SAFETY: portals keep the C convention; what the words name is the test's own.
    unsafe {
        asm!(
            "jal ra, 2f",
            "j 3f",
            ".option push", ".option norvc", "2: ecall", "j .", "nop", "nop", ".option pop",
            // Where a call is: see `form.rs` of the library.
            ".pushsection .cairn.calls, \"\", @progbits", ".dword 2b", ".popsection",
            "3:",
            in("t0") index,
            inlateout("a0") words[0] => status,
            inlateout("a1") words[1] => value,
            in("a2") words[2],
            in("a3") words[3],
            in("a4") words[4],
            in("a5") words[5],
            in("a6") words[6],
            in("a7") words[7],
            clobber_abi("C"),
        );
    }
    (status, value)
}

/// Calls the portal `index` with `words` and a number of its own in every register that a call keeps;
/// then `found[n]` is what was in `x<n>` after the call. The saved registers are to be `KEPT + n`.
pub fn call_and_look(index: u64, words: &[u64; 8]) -> [u64; 32] {
    let mut found = [0; 32];
    look(index, words, &mut found);
    found
}

/// What is in a register that calls keep, before the call: this plus the register's number.
pub const KEPT: u64 = 0x7770;

#[unsafe(naked)]
extern "C" fn look(index: u64, words: &[u64; 8], found: &mut [u64; 32]) {
    naked_asm!(
        "addi sp, sp, -400",
        "sd ra, 0(sp)", "sd gp, 8(sp)", "sd tp, 16(sp)",
        "sd s0, 24(sp)", "sd s1, 32(sp)", "sd s2, 40(sp)", "sd s3, 48(sp)", "sd s4, 56(sp)",
        "sd s5, 64(sp)", "sd s6, 72(sp)", "sd s7, 80(sp)", "sd s8, 88(sp)", "sd s9, 96(sp)",
        "sd s10, 104(sp)", "sd s11, 112(sp)", "sd a2, 120(sp)", "sd sp, 128(sp)",
        "mv t0, a0", "mv t1, a1",
        "ld a0, 0(t1)", "ld a1, 8(t1)", "ld a2, 16(t1)", "ld a3, 24(t1)",
        "ld a4, 32(t1)", "ld a5, 40(t1)", "ld a6, 48(t1)", "ld a7, 56(t1)",
        "li t1, {kept}",
        "addi gp, t1, 3", "addi tp, t1, 4", "addi s0, t1, 8", "addi s1, t1, 9",
        "addi s2, t1, 18", "addi s3, t1, 19", "addi s4, t1, 20", "addi s5, t1, 21",
        "addi s6, t1, 22", "addi s7, t1, 23", "addi s8, t1, 24", "addi s9, t1, 25",
        "addi s10, t1, 26", "addi s11, t1, 27",
        // Secrets of the caller, which nobody was meant to have.
        "li t1, {kept}", "mv t2, t1", "mv t3, t1", "mv t4, t1", "mv t5, t1", "mv t6, t1",
        "jal ra, 2f",
        "j 3f",
        ".option push", ".option norvc", "2: ecall", "j .", "nop", "nop", ".option pop",
            // Where a call is: see `form.rs` of the library.
            ".pushsection .cairn.calls, \"\", @progbits", ".dword 2b", ".popsection",
        "3:",
        "sd ra, 144(sp)", "sd sp, 152(sp)", "sd gp, 160(sp)", "sd tp, 168(sp)",
        "sd t0, 176(sp)", "sd t1, 184(sp)", "sd t2, 192(sp)", "sd s0, 200(sp)", "sd s1, 208(sp)",
        "sd a0, 216(sp)", "sd a1, 224(sp)", "sd a2, 232(sp)", "sd a3, 240(sp)", "sd a4, 248(sp)",
        "sd a5, 256(sp)", "sd a6, 264(sp)", "sd a7, 272(sp)", "sd s2, 280(sp)", "sd s3, 288(sp)",
        "sd s4, 296(sp)", "sd s5, 304(sp)", "sd s6, 312(sp)", "sd s7, 320(sp)", "sd s8, 328(sp)",
        "sd s9, 336(sp)", "sd s10, 344(sp)", "sd s11, 352(sp)", "sd t3, 360(sp)", "sd t4, 368(sp)",
        "sd t5, 376(sp)", "sd t6, 384(sp)",
        "ld t0, 120(sp)",
        // x1 to x31 lie from 144 on.
        "addi t1, sp, 144", "addi t2, sp, 392", "addi t0, t0, 8",
        "4: ld t3, 0(t1)", "sd t3, 0(t0)", "addi t0, t0, 8", "addi t1, t1, 8", "bltu t1, t2, 4b",
        "ld ra, 0(sp)", "ld gp, 8(sp)", "ld tp, 16(sp)",
        "ld s0, 24(sp)", "ld s1, 32(sp)", "ld s2, 40(sp)", "ld s3, 48(sp)", "ld s4, 56(sp)",
        "ld s5, 64(sp)", "ld s6, 72(sp)", "ld s7, 80(sp)", "ld s8, 88(sp)", "ld s9, 96(sp)",
        "ld s10, 104(sp)", "ld s11, 112(sp)",
        "addi sp, sp, 400",
        "ret",
        kept = const KEPT,
    )
}
