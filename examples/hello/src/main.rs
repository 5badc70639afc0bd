//! The smallest test of booting: writes to the serial port by itself.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

cairn::component! {
    name: "hello",
    main: main,
}

fn main() {
    if let Some(registers) = cairn::environment::device(0) {
        for byte in b"hello from a protection domain\n" {
            registers.write_u8(0, *byte);
        }
    }
}
