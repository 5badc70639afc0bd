//! The same random programs in this emulator and in QEMU, the registers and memory compared.
//!
//! The two share no code, so what both do is very likely what the manual says.

mod computing;
mod harness;
mod translation;
