//! Passes three small buffers in each call, of every length and at every distance from a word's beginning: the longest
//! that portals work with interrupts off. The trace tells.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_bench::Copies;

cairn::component! {
    name: "copier",
    imports: { target: Copies },
    main: main,
}

/// What portals copy at most.
const MAXIMUM: usize = 64;

fn main() {
    let mut buffers = [[0; MAXIMUM + 8]; 3];
    loop {
        for offset in 0..8 {
            for length in 0..=MAXIMUM {
                let [first, second, third] =
                    buffers.each_mut().map(|buffer| &mut buffer[offset..offset + length]);
                imports::TARGET.three(first, second, third).expect("copies");
            }
        }
    }
}
