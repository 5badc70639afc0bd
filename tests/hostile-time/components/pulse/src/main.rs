//! Wakes up a thousand times a second, and sees how late that was.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{counter, ticks};
use cairn_test_hostile_beat::beats;

cairn::component! {
    name: "hostile-pulse",
    imports: { threads: cairn_interfaces::Threads },
    main: main,
}

fn main() {
    let section = environment::section("beats").expect("section");
    let period = ticks(1000);
    let mut due = counter();
    loop {
        due += period;
        imports::THREADS.sleep_until(due).expect("sleep");
        let now = counter();
        section.store(beats::COUNT, section.load(beats::COUNT) + 1);
        section.store(beats::LATEST, section.load(beats::LATEST).max(now - due));
        if now > due + period {
            due = now;
        }
    }
}
