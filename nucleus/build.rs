//! Writes the constants that the assembly reads, and passes the linker script, whose path only the build knows.

use cairn_abi::{address, constants};

fn main() {
    let variable = |name| std::env::var(name).expect("cargo sets it");
    let mut text = String::new();
    constants::equates(&mut text).expect("a string takes all");
    std::fs::write(variable("OUT_DIR") + "/constants.S", text).expect("OUT_DIR is writable");
    println!("cargo:rerun-if-changed=link.ld");
    println!("cargo:rustc-link-arg-bins=-T{}/link.ld", variable("CARGO_MANIFEST_DIR"));
    println!("cargo:rustc-link-arg-bins=--defsym=NUCLEUS={:#x}", address::NUCLEUS);
}
