//! A panic is a fault of the component: a breakpoint, with the message in the registers, where the
//! supervisor finds it in the trap frame without access to the component's memory.
#![allow(unsafe_code)]

use crate::text::Line;
use core::fmt::Write;

/// Words of the message: `a0` to `a7`, then `s2` to `s9`.
pub const MESSAGE_WORDS: usize = 16;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let mut message = Line::<{ MESSAGE_WORDS * 8 }>::new();
    if let Some(location) = info.location() {
        let file = location.file();
        // The place is more useful than the beginning of its path.
        let from = file.len().saturating_sub(48);
        let _ = write!(message, "{}:{}: ", file.get(from..).unwrap_or(file), location.line());
    }
    let _ = write!(message, "{}", info.message());
    let mut words = [0u64; MESSAGE_WORDS];
    for (word, bytes) in words.iter_mut().zip(message.bytes().chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    // SAFETY: loads registers and faults; nothing runs afterwards. `t0` is the mark that tells a
    // panic from another breakpoint.
    unsafe {
        core::arch::asm!(
            "ld a0, 0(t1)", "ld a1, 8(t1)", "ld a2, 16(t1)", "ld a3, 24(t1)",
            "ld a4, 32(t1)", "ld a5, 40(t1)", "ld a6, 48(t1)", "ld a7, 56(t1)",
            "ld s2, 64(t1)", "ld s3, 72(t1)", "ld s4, 80(t1)", "ld s5, 88(t1)",
            "ld s6, 96(t1)", "ld s7, 104(t1)", "ld s8, 112(t1)", "ld s9, 120(t1)",
            "ebreak",
            in("t0") cairn_abi::startup::PANIC_MARK,
            in("t1") words.as_ptr(),
            options(noreturn)
        );
    }
}
