//! The face of a component that runs to completion ([`crate::succession`]).
#![allow(unsafe_code)]

use crate::succession::{LEADS, PLACES};

core::arch::global_asm!(
    ".pushsection .text.cairn_face, \"ax\"",
    ".globl cairn_face",
    ".balign 16",
    "cairn_face:",
    ".option push",
    ".option norvc",
    ".set cairn_place, 0",
    ".rept {places}",
    // A thread goes on by the entry of the same number in the table that the first word points to. t0 is free where a method begins.
    "77: auipc t0, %pcrel_hi({leads})",
    "ld t0, %pcrel_lo(77b)(t0)",
    "ld t0, cairn_place(t0)",
    "jr t0",
    ".set cairn_place, cairn_place + 8",
    ".endr",
    ".option pop",
    ".popsection",
    leads = sym LEADS,
    places = const PLACES,
);

/// Where it begins.
pub(crate) fn face() -> u64 {
    unsafe extern "C" {
        fn cairn_face();
    }
    cairn_face as *const () as u64
}
