//! How the build script makes an object file of the stencils, and what it finds there.

use object::elf;

/// The sources.
pub const FOLDER: &str = "src/arch/riscv64/stencils";
/// In this order, as one.
pub const SOURCES: [&str; 11] = [
    "macros.S",
    "call.S",
    "return.S",
    "kernel.S",
    "float.S",
    "upcall.S",
    "fault.S",
    "semaphore.S",
    "device.S",
    "process.S",
    "short_circuit.S",
];
/// The assembler, where `CAIRN_AS` names no other, and the package that has it.
pub const ASSEMBLER: &str = "riscv64-unknown-elf-as";
pub const PACKAGE: &str = "binutils-riscv64-unknown-elf";
/// What it assembles for.
pub const OPTIONS: [&str; 2] = ["-march=rv64ia_zicsr_zifencei", "-mabi=lp64"];

/// A relocation that only permits to relax, where nothing is relaxed.
pub fn is_permission(relocation: u32) -> bool {
    relocation == elf::R_RISCV_RELAX
}

/// The form, one of `form.rs`, of a hole with this relocation.
pub fn form(relocation: u32) -> Option<&'static str> {
    match relocation {
        elf::R_RISCV_LO12_I => Some("LoadOrAdd"),
        elf::R_RISCV_LO12_S => Some("Store"),
        elf::R_RISCV_BRANCH => Some("Branch"),
        elf::R_RISCV_JAL => Some("Jump"),
        _ => None,
    }
}
