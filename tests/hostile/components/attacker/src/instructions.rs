//! Instructions that user mode may not execute.
#![allow(unsafe_code)] // Attacks, which the hardware must stop.

use cairn::Error;
use cairn_test_hostile_contract::INSTRUCTIONS;
use core::arch::naked_asm;

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
