//! Takes the time that nobody wants: an emulator that counts instructions lets time pass while the
//! machine waits as its host has it, which would make deadlines a matter of the host's load.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

cairn::component! {
    name: "hostile-filler",
    main: main,
}

fn main() {
    loop {
        core::hint::spin_loop();
    }
}
