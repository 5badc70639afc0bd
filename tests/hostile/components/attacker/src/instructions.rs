//! Instructions that user mode may not execute.
#![allow(unsafe_code)] // Attacks, which the hardware must stop.

use cairn::Error;
use cairn_test_hostile_contract::INSTRUCTIONS;
use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! attacks {
    ($($text:literal),* $(,)?) => {
        [$({
            #[unsafe(naked)]
            extern "C" fn attack() {
                naked_asm!($text, "ret")
            }
            attack as extern "C" fn()
        }),*]
    };
}

/// Zero in the registers where a write would do no harm if it were done.
static ATTACKS: [extern "C" fn(); INSTRUCTIONS.len()] = attacks![
    "csrr a0, sstatus",
    "csrw sstatus, zero",
    "csrr a0, sie",
    "csrw sie, zero",
    "csrw sip, zero",
    "csrr a0, satp",
    "csrw satp, zero",
    "csrr a0, stvec",
    "csrw stvec, zero",
    "csrw sscratch, zero",
    "csrr a0, sepc",
    "csrw scounteren, zero",
    "csrw 0x14d, zero",
    "csrr a0, mstatus",
    "csrw mie, zero",
    "csrw cycle, zero",
    "sret",
    "mret",
    "wfi",
    "sfence.vma",
    "ebreak",
    ".4byte 0",
    ".4byte 0xffffffff",
    // fadd.d f0, f0, f0
    ".4byte 0x02007053",
];

pub fn execute(which: u64) -> Result<u64, Error> {
    let attack = ATTACKS.get(which as usize).ok_or(Error::BadArgument)?;
    attack();
    Ok(0)
}

/// Two words, all bytes different.
static BYTES: [AtomicU64; 2] =
    [AtomicU64::new(0x0706_0504_0302_0100), AtomicU64::new(0x0f0e_0d0c_0b0a_0908)];

/// An access to a word that is `offset` bytes inside; 0 if it did what it should.
pub fn misaligned(which: u64, offset: u64) -> Result<u64, Error> {
    let address = BYTES.as_ptr() as u64 + offset % 8;
    let mut word: u64 = 0x5555_5555_5555_5555;
    let expected = u64::from_le_bytes(core::array::from_fn(|byte| byte as u8 + offset as u8 % 8));
    // SAFETY: both words are there and this component's own; whether the access may be misaligned is what
    // is asked.
    unsafe {
        match which {
            0 => asm!("ld {0}, 0({1})", out(reg) word, in(reg) address),
            1 => asm!("sd {0}, 0({1})", in(reg) expected, in(reg) address),
            2 => asm!("sc.d {0}, {0}, ({1})", inout(reg) word, in(reg) address),
            3 => asm!("lr.d {0}, ({1})", out(reg) word, in(reg) address),
            4 => asm!("amoswap.d {0}, {0}, ({1})", inout(reg) word, in(reg) address),
            5 => asm!("amoadd.w {0}, {0}, ({1})", inout(reg) word, in(reg) address),
            _ => return Err(Error::BadArgument),
        }
    }
    let whole = BYTES[0].load(Relaxed) == 0x0706_0504_0302_0100;
    let right = match which {
        1 => whole,
        2 => whole && word != 0,
        _ => word == expected,
    };
    Ok(!right as u64)
}
