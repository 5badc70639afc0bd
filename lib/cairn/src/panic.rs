//! A panic is a fault of the component: a breakpoint. The message stays in memory of the component, where the supervisor reads it.
//!
//! Relaxed: the supervisor reads when the thread that panicked has stopped. Of threads that panic at the same time one ends the component, and
//! the others' text may be mixed with its own.

use cairn_abi::startup::PANIC_MESSAGE_MAXIMUM;
use core::fmt::{Result, Write};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Not on the stack: that may be nearly full.
static TEXT: [AtomicU8; PANIC_MESSAGE_MAXIMUM] =
    [const { AtomicU8::new(0) }; PANIC_MESSAGE_MAXIMUM];

/// How much of it is used.
struct Message(usize);

impl Write for Message {
    fn write_str(&mut self, text: &str) -> Result {
        for (place, byte) in TEXT.iter().skip(self.0).zip(text.bytes()) {
            place.store(byte, Relaxed);
            self.0 += 1;
        }
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let mut message = Message(0);
    if let Some(location) = info.location() {
        let _ = write!(message, "{location}: ");
    }
    let _ = write!(message, "{}", info.message());
    crate::arch::leave::panic_with(TEXT.as_ptr() as u64, message.0)
}
