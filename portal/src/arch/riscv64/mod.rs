//! RISC-V 64. `stencils` and `assemble.rs` belong to the build script.

pub mod bounds;
pub mod fences;
pub mod form;
pub mod parameter;
