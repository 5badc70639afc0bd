//! Starts a thread that needs more than its stack, above variables that it may not reach by that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::{Stack, spawn};
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "deep",
    imports: { threads: cairn_interfaces::Threads },
    main: main,
}

/// Nothing but the stack's own guard lies between the two.
#[repr(C)]
struct Neighbours {
    below: [AtomicU64; 512],
    stack: Stack<8192>,
}

static NEIGHBOURS: Neighbours =
    Neighbours { below: [const { AtomicU64::new(0) }; 512], stack: Stack::new() };

/// Calls itself without end, and looks each time whether the variables below are as they were.
fn deeper(level: u64) -> u64 {
    let kept = black_box([level; 4]);
    let is_zero = |word: &AtomicU64| word.load(Relaxed) == 0;
    assert!(NEIGHBOURS.below.iter().all(is_zero), "what lies below the stack was written");
    deeper(level + 1) + black_box(kept)[0]
}

fn main() {
    let thread = spawn(&NEIGHBOURS.stack, 65, || deeper(1)).expect("spawn");
    let _ = thread.join();
}
