//! Idles as well, and has more memory than the other, by which it is told from that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-roots-idle2",
    main: main,
}

/// How often it has waited, once for each of some times.
static WAITED: [AtomicU64; 2048] = [const { AtomicU64::new(0) }; 2048];

fn main() {
    for place in (0..WAITED.len()).cycle() {
        let _ = cairn::privileged::wait();
        WAITED[place].fetch_add(1, Relaxed);
    }
}
