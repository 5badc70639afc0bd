//! Faults as soon as it is started.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

cairn::component! {
    name: "loop",
    main: main,
}

fn main() {
    panic!("again");
}
