//! Computes without end, so that the emulator's time is that of executed instructions: when nobody computes, it waits for the host's.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

cairn::component! {
    name: "busy",
    main: main,
}

fn main() {
    loop {
        core::hint::spin_loop();
    }
}
