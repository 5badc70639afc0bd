//! A panic is a fault of the component: a breakpoint. The message stays on the stack, where the supervisor reads it.

use crate::text::Line;
use cairn_abi::startup::PANIC_MESSAGE_MAXIMUM;
use core::fmt::Write;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let mut message = Line::<PANIC_MESSAGE_MAXIMUM>::new();
    if let Some(location) = info.location() {
        let _ = write!(message, "{location}: ");
    }
    let _ = write!(message, "{}", info.message());
    crate::arch::leave::panic_with(message.bytes())
}
