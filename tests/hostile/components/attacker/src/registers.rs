//! Registers that hold what they should not.
#![allow(unsafe_code)] // Registers are set as no compiler sets them.

use crate::imports::{PORTALS, SHARING, VICTIM};
use cairn::Error;
use cairn_test_hostile_contract::SECRET;
use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! every_register {
    ($($rest:tt)*) => {
        asm!(
            "mv ra, t0", "mv gp, t0", "mv tp, t0", "mv t1, t0", "mv t2, t0",
            "mv s0, t0", "mv s1, t0", "mv a2, t0", "mv a3, t0", "mv a4, t0", "mv a5, t0",
            "mv a6, t0", "mv a7, t0", "mv s2, t0", "mv s3, t0", "mv s4, t0", "mv s5, t0",
            "mv s6, t0", "mv s7, t0", "mv s8, t0", "mv s9, t0", "mv s10, t0", "mv s11, t0",
            "mv t3, t0", "mv t4, t0", "mv t5, t0", "mv t6, t0",
            $($rest)*
        )
    };
}

/// Returns 0 to the caller of the attacker, past all that the compiler would restore.
pub fn leave_secrets() -> ! {
    // SAFETY: the return portal does not come back, and brings the client's own registers.
    unsafe {
        every_register!(
            "mv sp, t0", "li a0, 0", "li a1, 0", "li t0, 0", "ecall",
            in("t0") SECRET, options(noreturn)
        )
    }
}

/// Turns round and round, until somebody ends this.
pub fn spin(word: u64) -> ! {
    // SAFETY: touches no memory.
    unsafe {
        every_register!(
            "mv sp, t0", "mv a0, t0", "mv a1, t0", "2: j 2b",
            in("t0") word, options(noreturn)
        )
    }
}

static LOOKED: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];

/// An entry point that keeps the registers it finds.
#[unsafe(naked)]
extern "C" fn look() {
    naked_asm!(
        "addi sp, sp, -256",
        "sd ra, 8(sp)", "sd gp, 24(sp)", "sd tp, 32(sp)", "sd t0, 40(sp)", "sd t1, 48(sp)",
        "sd t2, 56(sp)", "sd s0, 64(sp)", "sd s1, 72(sp)", "sd a0, 80(sp)", "sd a1, 88(sp)",
        "sd a2, 96(sp)", "sd a3, 104(sp)", "sd a4, 112(sp)", "sd a5, 120(sp)", "sd a6, 128(sp)",
        "sd a7, 136(sp)", "sd s2, 144(sp)", "sd s3, 152(sp)", "sd s4, 160(sp)", "sd s5, 168(sp)",
        "sd s6, 176(sp)", "sd s7, 184(sp)", "sd s8, 192(sp)", "sd s9, 200(sp)", "sd s10, 208(sp)",
        "sd s11, 216(sp)", "sd t3, 224(sp)", "sd t4, 232(sp)", "sd t5, 240(sp)", "sd t6, 248(sp)",
        "mv a0, sp",
        "call {keep}",
        "li a0, 0", "li a1, 0", "li t0, 0", "ecall",
        keep = sym keep,
    )
}

extern "C" fn keep(words: &[u64; 32]) {
    for (kept, word) in LOOKED.iter().zip(words).skip(1) {
        kept.store(*word, Relaxed);
    }
}

pub fn register_look() -> Result<u64, Error> {
    let mut methods = [0; 32];
    methods[8..11].copy_from_slice(b"cii");
    methods[24..].copy_from_slice(&(look as *const () as u64).to_le_bytes());
    PORTALS.register("attacker.look", "*", &methods).map(|()| 0)
}

pub fn looked(register: u64) -> Result<u64, Error> {
    LOOKED.get(register as usize).map(|word| word.load(Relaxed)).ok_or(Error::BadArgument)
}

/// Index of that method.
const PUSH: u32 = 7;

/// Calls the victim's `echo` with any stack pointer.
pub fn call_with_stack(stack: u64) -> u64 {
    call_at(VICTIM.first_portal(), stack)
}

/// Calls the `push` that runs on the caller's stack.
pub fn call_shared_with_stack(stack: u64) -> u64 {
    call_at(SHARING.first_portal() + PUSH, stack)
}

/// A call of a method with one word, on this stack.
fn call_at(portal: u32, stack: u64) -> u64 {
    let (status, after): (u64, u64);
    // SAFETY: the stack pointer is put back before anything uses it; `s2` is a register that calls keep.
    unsafe {
        asm!(
            "mv s2, sp", "mv sp, {stack}", "jal ra, 2f", "j 3f", "2: ecall", "3:",
            "mv t1, sp", "mv sp, s2",
            stack = in(reg) stack,
            lateout("t1") after,
            in("t0") u64::from(portal),
            inlateout("a0") 0u64 => status,
            in("a1") 1u64,
            out("s2") _,
            clobber_abi("C"),
        );
    }
    if after == stack { status } else { u64::MAX }
}

/// Calls the victim's `echo`, to return to any address.
pub fn call_with_return(address: u64) -> ! {
    // SAFETY: none; what runs afterwards is not for this component to say.
    unsafe {
        asm!("mv ra, {0}", "ecall", in(reg) address, in("t0") u64::from(VICTIM.first_portal()), options(noreturn))
    }
}
