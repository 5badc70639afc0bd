//! Counting the executed instructions of one crossing.
//!
//! The count is read by the last instructions before the `ecall` and by the first one after the
//! return, so nothing of the caller's loop, of its arguments or of its stub is in between.
#![allow(unsafe_code)]

use cairn_abi::descriptor::{EntryPoint, Reply};
use core::arch::naked_asm;
use core::sync::atomic::AtomicI64;

/// A measured call. The counts are of executed instructions.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sample {
    /// Before the call.
    pub begin: u64,
    /// After the return.
    pub end: u64,
    /// What the call answered. Of a failed call the other fields may be garbage.
    pub reply: Reply,
}

/// What is called: the index of a portal, or the address of a function.
type Sequence = extern "C" fn(target: u64, words: &[u64; 8], mark: &AtomicI64, sample: &mut Sample);

/// The measured sequence. `begin` is also stored at the mark, for whoever runs next. Everything that
/// the C convention preserves is kept here: the callee may not keep it.
macro_rules! sequence {
    ($name:ident, $instruction:literal) => {
        #[unsafe(naked)]
        extern "C" fn $name(target: u64, words: &[u64; 8], mark: &AtomicI64, sample: &mut Sample) {
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
                "sd t1, 0(t2)",
                "sd t1, 0(t3)",
                $instruction,
                "1: rdinstret t1",
                "ld t2, 120(sp)",
                "sd t1, 8(t2)",
                "sd a0, 16(t2)",
                "sd a1, 24(t2)",
                "ld ra, 0(sp)",
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
                "addi sp, sp, 128",
                "ret",
            )
        }
    };
}

sequence!(through_portal, "ecall");
sequence!(through_function, "jalr t0");
sequence!(through_nothing, "nop");

fn run(sequence: Sequence, target: u64, words: &[u64; 8], mark: &AtomicI64) -> Sample {
    let mut sample = Sample { begin: 0, end: 0, reply: Reply { status: 0, value: 0 } };
    sequence(target, words, mark, &mut sample);
    sample
}

/// Calls the portal at `index` with the registers `words`, `a0` first. As with a proxy for the wrong
/// interface, the registers must suit the portal's specification: buffers that they name are
/// read and written.
#[inline(never)]
pub fn portal(index: u32, words: &[u64; 8], mark: &AtomicI64) -> Sample {
    run(through_portal, index.into(), words, mark)
}

/// Calls a server's entry point as an ordinary function: what the server's own instructions cost.
#[inline(never)]
pub fn function(entry: EntryPoint, words: &[u64; 8], mark: &AtomicI64) -> Sample {
    run(through_function, entry as usize as u64, words, mark)
}

/// What measuring itself puts between `begin` and `end`, the calling instruction left out.
pub fn overhead() -> u64 {
    let mark = AtomicI64::new(0);
    let sample = run(through_nothing, 0, &[0; 8], &mark);
    sample.end - sample.begin - 1
}

/// Stores the count of instructions at the mark and then reads address 0, which no domain maps: a page
/// fault, after which nothing of this call runs.
#[unsafe(naked)]
pub extern "C" fn page_fault(mark: &AtomicI64) -> u64 {
    naked_asm!("rdinstret t1", "sd t1, 0(a0)", "ld a0, 0(zero)", "ret")
}

/// Instructions from the read of [`page_fault`] to a count that was taken later.
pub fn since_page_fault(mark: u64, end: u64) -> u64 {
    // Behind the mark's count: `rdinstret` itself and the store.
    end.wrapping_sub(mark).wrapping_sub(2)
}
