//! Components are linked anew when their linker script changes.

fn main() {
    println!("cargo:rerun-if-changed=component.ld");
}
