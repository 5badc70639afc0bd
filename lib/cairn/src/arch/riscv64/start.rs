//! Where a component's functions return to.
#![allow(unsafe_code)]

use super::form::call_stub;

core::arch::global_asm!(
    // Every entry point and every thread's first function is entered with this as its return
    // address: index 0 leaves the topmost frame. The host tool finds it by its name.
    ".pushsection .text.cairn_return_stub, \"ax\"",
    ".globl cairn_return_stub",
    ".balign 16",
    "cairn_return_stub:",
    call_stub!("li t0, 0"),
    ".popsection",
);
