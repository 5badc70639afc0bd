//! Where a component's functions return to.
#![allow(unsafe_code)]

core::arch::global_asm!(
    // Every entry point and every thread's first function is entered with this as its return
    // address: index 0 leaves the topmost frame. The host tool finds it by its name.
    ".pushsection .text.cairn_return_stub, \"ax\"",
    ".globl cairn_return_stub",
    // The form of every stub: see `call.rs`.
    ".balign 16",
    "cairn_return_stub:",
    ".option push",
    ".option norvc",
    "li t0, 0",
    "ecall",
    "j .",
    ".option pop",
    ".balign 16",
    ".popsection",
);
