//! Calls itself without end, on a stack that grows as far as its description or its quota lets it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use core::hint::black_box;

cairn::component! {
    name: "growing-endless",
    main: main,
}

fn deeper(level: u64) -> u64 {
    let kept = black_box([level; 16]);
    if level == 0 {
        return 0;
    }
    deeper(level + 1) + black_box(kept)[0]
}

fn main() {
    black_box(deeper(1));
}
