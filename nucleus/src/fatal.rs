//! The end: a component without which the system cannot go on has faulted, or the nucleus itself.
//! Says so on the firmware's console and halts. Text and hexadecimal numbers are printed by hand,
//! since formatting would be half of the nucleus.

use cairn_abi::arch::trap;
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::upcall::{Access, Fault};
use cairn_abi::{domain, thread};

fn print(text: &[u8]) {
    for byte in text {
        #[allow(deprecated)]
        // The debug console extension is younger than the firmware of QEMU 7.2.
        sbi_rt::legacy::console_putchar(*byte as usize);
    }
}

fn print_hexadecimal(number: u64) {
    print(b"0x");
    for digit in (0..16).rev() {
        print(&[b"0123456789abcdef"[(number >> (digit * 4) & 15) as usize]]);
    }
}

/// Exit status of a run that ends here.
const FATAL_STATUS: u64 = 3;

fn halt() -> ! {
    crate::service::halt(FATAL_STATUS)
}

fn cause_text(cause: u64) -> &'static [u8] {
    if cause == trap::STACK_WAIT {
        return b"waiting for a stack of its own";
    }
    match trap::fault(cause, 0) {
        Fault::Misaligned(Access::Execute, _) => b"misaligned instruction address",
        Fault::Misaligned(..) => b"misaligned address",
        Fault::Absent(Access::Execute, _) => b"instruction access fault",
        Fault::Absent(Access::Read, _) => b"load access fault",
        Fault::Absent(Access::Write, _) => b"store access fault",
        Fault::Denied(Access::Execute, _) => b"instruction page fault",
        Fault::Denied(Access::Read, _) => b"load page fault",
        Fault::Denied(Access::Write, _) => b"store page fault",
        Fault::Illegal | Fault::FloatingPoint => b"illegal instruction",
        Fault::Breakpoint => b"breakpoint",
        Fault::Other(_) => b"unexpected trap",
    }
}

/// Prints what happened where, and halts.
fn end(cause: u64, pc: u64, value: u64) -> ! {
    print(cause_text(cause));
    print(b", pc ");
    print_hexadecimal(pc);
    print(b", value ");
    print_hexadecimal(value);
    print(b"\ncairn: the system cannot go on without it and halts\n");
    halt()
}

/// Prints who ran above a frame.
///
/// # Safety
/// `frame` is a frame's header: it names the table of a domain, whose block is mapped and carries the name.
#[inline(never)]
unsafe fn print_name(frame: u64) {
    // SAFETY: the caller's promise.
    let name = unsafe {
        let table = (frame.wrapping_add_signed(thread::FRAME_TABLE) as *const u64).read_volatile();
        &*(table.wrapping_add_signed(domain::FIELD_NAME) as *const [u8; NAME_SIZE])
    };
    name.iter().take_while(|byte| **byte != 0).for_each(|byte| print(&[*byte]));
}

/// An essential component faulted; `frame` is the header of the trap frame.
#[unsafe(no_mangle)]
extern "C" fn fatal(frame: u64, cause: u64, value: u64) -> ! {
    print(b"\ncairn: essential component `");
    // SAFETY: the trap entry wrote this frame, and the frame below is a frame.
    let pc = unsafe {
        print_name(frame.wrapping_add_signed(-thread::TRAP_FRAME));
        (frame.wrapping_add_signed(thread::TRAP_SEPC) as *const u64).read_volatile()
    };
    print(b"` faulted: ");
    end(cause, pc, value)
}

/// A fault in privileged mode that has no lawful cause, of who ran above a frame or of what it called: a component in the
/// kernel domain that runs to completion, a portal, the nucleus.
#[unsafe(no_mangle)]
extern "C" fn privileged_fault(frame: u64) -> ! {
    let (cause, pc, value) = crate::arch::last_trap();
    print(b"\ncairn: fault in privileged mode while `");
    // SAFETY: every trap saves two registers above this frame first.
    unsafe { print_name(frame) };
    print(b"` ran: ");
    end(cause, pc, value)
}

/// At boot: the hart has fewer bits for address-space identifiers than the board description says.
#[unsafe(no_mangle)]
extern "C" fn identifiers_missing() -> ! {
    print(b"\ncairn: this hart has fewer address-space identifiers than its board description says (asid_bits)\n");
    halt()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    print(b"\ncairn: panic in the nucleus\n");
    halt()
}
