//! Idle: the thread that runs when no other is ready.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

cairn::component! {
    name: "idle",
    main: main,
}

fn main() {
    loop {
        // The portal is granted to this component; without it, waiting costs time, nothing else.
        let _ = cairn::privileged::wait();
    }
}
