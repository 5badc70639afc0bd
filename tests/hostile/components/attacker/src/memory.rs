//! Memory that is not the attacker's, or not for this use; and memory that it leaves secrets in.
#![allow(unsafe_code)] // Attacks, which the hardware must stop.

use crate::imports::MEMORY;
use cairn::Error;
use cairn_test_hostile_contract::SECRET;
use core::arch::asm;
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Memory that windows are made of.
#[repr(align(4096))]
pub struct Pages(pub [AtomicU64; 2048]);
pub static PAGES: Pages = Pages([const { AtomicU64::new(0) }; 2048]);

/// `ret`, as data.
static DATA_CODE: AtomicU64 = AtomicU64::new(0x8067);
static CONSTANT: u64 = 0x8067;

pub fn load(address: u64) -> u64 {
    // SAFETY: none; an attack.
    unsafe { (address as *const u64).read_volatile() }
}

pub fn store(address: u64) -> Result<u64, Error> {
    // SAFETY: none; an attack.
    unsafe { (address as *mut u64).write_volatile(0) };
    Ok(0)
}

pub fn jump(address: u64) -> Result<u64, Error> {
    // SAFETY: none; an attack.
    unsafe { asm!("jalr {0}", in(reg) address, clobber_abi("C")) };
    Ok(0)
}

pub fn address(what: u64) -> Result<u64, Error> {
    match what {
        0 => Ok(DATA_CODE.as_ptr() as u64),
        1 => Ok(black_box(&raw const CONSTANT) as u64),
        2 => Ok(jump as *const () as u64 & !7),
        3 => Ok(PAGES.0.as_ptr() as u64),
        _ => Err(Error::BadArgument),
    }
}

#[allow(unconditional_recursion)]
pub fn overflow(depth: u64) -> u64 {
    let page = [depth; 64];
    overflow(black_box(&page)[3] + 1) + page[5]
}

/// Words of a stack of 16 KiB that secrets are written to and looked for in.
const STACK_WORDS: usize = 1500;

#[inline(never)]
pub fn write_secrets() -> Result<u64, Error> {
    let stack = [SECRET; STACK_WORDS];
    PAGES.0.iter().for_each(|word| word.store(SECRET, Relaxed));
    let pages = 16;
    let address = MEMORY.allocate(pages)?;
    for word in 0..pages * 512 {
        // SAFETY: the memory manager just gave this memory to this component.
        unsafe { ((address + word * 8) as *mut u64).write_volatile(SECRET) };
    }
    Ok(black_box(&stack)[7] & 1)
}

#[inline(never)]
pub fn find_secrets() -> u64 {
    let here: u64;
    // SAFETY: reads the stack pointer.
    unsafe { asm!("mv {0}, sp", out(reg) here) };
    // Below the stack pointer lies what earlier calls left.
    let stack = (1..=STACK_WORDS as u64).map(|word| load(here - word * 8));
    let variables = PAGES.0.iter().map(|word| word.load(Relaxed));
    stack.chain(variables).filter(|word| *word == SECRET).count() as u64
}
