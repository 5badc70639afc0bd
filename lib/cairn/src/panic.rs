//! A panic is a fault of the component: a breakpoint, with the message in the registers, where the
//! supervisor finds it in the trap frame without access to the component's memory.

use crate::text::Line;
use core::fmt::Write;

/// Words of the message.
pub(crate) const MESSAGE_WORDS: usize = 16;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let mut message = Line::<{ MESSAGE_WORDS * 8 }>::new();
    if let Some(location) = info.location() {
        let file = location.file();
        // Of a long path the end is kept: it says more than the beginning.
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
    crate::arch::leave::fault_with(cairn_abi::startup::PANIC_MARK, &words)
}
