//! RISC-V 64, supervisor mode, Sv39.

pub mod call;
pub mod counter;
pub mod interrupt;
pub mod page_table;
pub mod trap;
