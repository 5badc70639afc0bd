//! Waits for an alarm that never comes.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_driver_interfaces::WallClock;
use cairn_interfaces::Threads;

cairn::component! {
    name: "sleeper",
    imports: { threads: Threads, clock: WallClock },
    main: main,
}

/// The end of the time that the interface can say: further away than the device can.
fn main() {
    while imports::CLOCK.wait_until(u64::MAX).is_err() {
        let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
    }
}
