//! The end: a component without which the system cannot go on has faulted, or the nucleus itself.
//! Says so on the firmware's console and halts.

use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::{domain, thread};
use core::fmt::{self, Write};

struct Firmware;

impl Write for Firmware {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            #[allow(deprecated)] // The debug console extension is younger than the firmware of QEMU 7.2.
            sbi_rt::legacy::console_putchar(byte as usize);
        }
        Ok(())
    }
}

fn halt() -> ! {
    sbi_rt::system_reset(sbi_rt::Shutdown, sbi_rt::SystemFailure);
    loop {}
}

/// Privileged manual, table 4.2.
fn cause_text(cause: u64) -> &'static str {
    match cause {
        0 => "misaligned instruction address",
        1 => "instruction access fault",
        2 => "illegal instruction",
        3 => "breakpoint",
        4 | 6 => "misaligned address",
        5 => "load access fault",
        7 => "store access fault",
        8 => "waiting for a stack of its own",
        12 => "instruction page fault",
        13 => "load page fault",
        15 => "store page fault",
        _ => "unexpected trap",
    }
}

/// An essential component faulted; `frame` is the header of the trap frame.
#[unsafe(no_mangle)]
extern "C" fn fatal(frame: u64, cause: u64, value: u64) -> ! {
    // SAFETY: the trap entry wrote this frame; the frame below names the table of the domain that
    // was running, whose block is mapped and carries the name.
    let (pc, number, name) = unsafe {
        let word = |offset: i64| (frame.wrapping_add_signed(offset) as *const u64).read_volatile();
        let table = word(thread::FRAME_TABLE - thread::TRAP_FRAME);
        let name_at = table.wrapping_add_signed(domain::FIELD_NAME) as *const [u8; NAME_SIZE];
        let number = (table.wrapping_add_signed(domain::FIELD_NUMBER) as *const u64).read();
        (word(thread::TRAP_SEPC), number, name_at.read())
    };
    let _ = writeln!(
        Firmware,
        "\ncairn: essential component `{}` (domain {number}) faulted: {}, pc {pc:#x}, value {value:#x}\n\
         cairn: the system cannot go on without it and halts",
        cairn_abi::descriptor::name_text(&name),
        cause_text(cause),
    );
    halt()
}

/// A fault in privileged mode that has no lawful cause.
#[unsafe(no_mangle)]
extern "C" fn privileged_fault() -> ! {
    let (cause, pc, value): (u64, u64, u64);
    // SAFETY: reads three registers.
    unsafe {
        core::arch::asm!("csrr {0}, scause", "csrr {1}, sepc", "csrr {2}, stval",
            out(reg) cause, out(reg) pc, out(reg) value);
    }
    let _ = writeln!(Firmware, "\ncairn: fault in privileged mode: {}, pc {pc:#x}, value {value:#x}", cause_text(cause));
    halt()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    let _ = Firmware.write_str("\ncairn: panic in the nucleus\n");
    halt()
}
