//! Packages of the host that only some commands need.

use anyhow::{Result, bail};
use std::process::Command;

/// The debugger.
pub const DEBUGGER: &[&str] = &["gdb-multiarch:gdb-multiarch"];
/// Where the library of components written in C is installed.
pub const PICOLIBC: &str = "/usr/lib/picolibc/riscv64-unknown-elf";
/// The compiler and library of components written in C.
pub const C_COMPILER: &[&str] = &[
    "riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf",
    "/usr/lib/picolibc/riscv64-unknown-elf/picolibc.specs:picolibc-riscv64-unknown-elf",
];

/// Installs what is missing of `needs`; each is `CHECK:PACKAGE` as `setup/packages.sh` takes it.
pub fn need(needs: &[&str]) -> Result<()> {
    let script = crate::paths::source().join("tools/cairn/setup/packages.sh");
    if !Command::new(script).args(needs).status()?.success() {
        bail!("packages are missing; the lines above say which and how to install them");
    }
    Ok(())
}
