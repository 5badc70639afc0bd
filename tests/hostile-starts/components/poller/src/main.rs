//! Enters a component as soon as it lives, before its first thread begins, if it can.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::now;
use cairn_interfaces::Threads;
use cairn_test_hostile_starts_contract::Newborn;

cairn::component! {
    name: "hostile-poller",
    imports: { threads: Threads, newborn: Newborn },
    main: main,
}

fn main() {
    let mut pause = 1;
    loop {
        let _ = imports::NEWBORN.take();
        // Of all lengths, so that it comes at any instant.
        pause = pause * 31 % 97;
        let _ = imports::THREADS.sleep_until(now() + pause);
    }
}
