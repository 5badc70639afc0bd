//! Has the role `logs`, and writes into all logs what leads far away where a writer takes it for a size, a place or a level.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::section;
use cairn::time::{now, ticks};
use cairn_interfaces::Threads;
// Relaxed: any order is as bad.
use core::sync::atomic::Ordering::Relaxed;

cairn::component! {
    name: "hostile-logs-reader",
    imports: { threads: Threads },
    main: main,
}

fn main() {
    let logs = section("logs").expect("the role brings it");
    let words = logs.words(logs.size() / 8);
    for shift in (0..63).cycle() {
        // Each larger than the one before.
        for (number, word) in words.iter().enumerate() {
            word.store(1 << ((shift + 5 * number) % 63) | 5, Relaxed);
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(1000));
    }
}
