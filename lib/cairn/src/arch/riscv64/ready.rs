//! How a thread asks the supervisor: by a load of a page that is not mapped.
#![allow(unsafe_code)]

use core::arch::asm;

/// Reads the word at `address`, which is in a page that is mapped, or will be: until then the thread waits. If the supervisor does not
/// let it wait any longer, it has it go on at the return address, with an error in `a0`.
pub(crate) fn touch(address: u64) {
    // SAFETY: the component's data are not touched: the page is read-only, and no part of them.
    unsafe {
        asm!(
            "lla ra, 1f",
            "ld {0}, 0({0})",
            "1:",
            inout(reg) address => _,
            out("ra") _,
            out("a0") _,
            options(nostack)
        );
    }
}
