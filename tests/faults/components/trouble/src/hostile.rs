//! The deeds.

use cairn::Error;
use core::arch::asm;

/// First address of the nucleus.
const NUCLEUS: u64 = cairn::abi::address::NUCLEUS;

/// Commits a deed. Coming back from it is what the test must not see.
pub fn commit(deed: u64, address: u64) -> Result<u64, Error> {
    match deed {
        0 => panic!("on purpose, at {address:#x}"),
        1 => Ok(load(address)),
        2 => store(address),
        3 => jump(address),
        4 => Ok(load(NUCLEUS)),
        5 => jump(NUCLEUS),
        6 => privileged(0),
        7 => privileged(1),
        8 => privileged(2),
        9 => Ok(overflow(address)),
        10 => {
            // `ret`, as data on the stack.
            let code = [0x8067u32, 0];
            jump(code.as_ptr() as u64)
        }
        11 => store(commit as *const () as u64 & !7),
        12 => loop {
            core::hint::spin_loop();
        },
        // Where execution is counted by cycles, and these stop meanwhile, this has to be illegal: nobody would ever see a thread
        // here exceed its limit.
        13 => loop {
            // SAFETY: changes nothing, if it is executed at all.
            unsafe { asm!("wfi") };
        },
        // In a system that is in development.
        14 => Ok(address + !0),
        15 => pretend(address),
        _ => Err(Error::BadArgument),
    }
}

/// A panic whose message would be somebody else's memory.
fn pretend(address: u64) -> ! {
    let mark = cairn::abi::startup::PANIC_MARK;
    // SAFETY: none. This is a deed: the supervisor must not read it.
    unsafe { asm!("ebreak", in("t0") mark, in("a0") address, in("a1") !0u64, options(noreturn)) };
}

fn load(address: u64) -> u64 {
    // SAFETY: none. This is a deed: the hardware must stop it.
    unsafe { (address as *const u64).read_volatile() }
}

fn store(address: u64) -> Result<u64, Error> {
    // SAFETY: none. This is a deed: the hardware must stop it.
    unsafe { (address as *mut u64).write_volatile(0) };
    Ok(0)
}

fn jump(address: u64) -> Result<u64, Error> {
    // SAFETY: none. This is a deed: the hardware must stop it.
    unsafe { asm!("jalr {0}", in(reg) address, clobber_abi("C")) };
    Ok(0)
}

fn privileged(which: u64) -> Result<u64, Error> {
    // SAFETY: none. These are deeds: the hardware must stop them.
    unsafe {
        match which {
            0 => asm!("csrr a0, sstatus", out("a0") _),
            1 => asm!("sret"),
            _ => asm!("sfence.vma"),
        }
    }
    Ok(0)
}

#[inline(never)]
#[allow(unconditional_recursion)]
fn overflow(depth: u64) -> u64 {
    let page = [depth; 64];
    overflow(core::hint::black_box(&page)[3] + 1) + page[5]
}
