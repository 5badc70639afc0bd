//! Less urgent than Linux: calls it without end, or computes at random times, so that another one of less priority stops anywhere in a call.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Console, Portals, Threads};

cairn::component! {
    name: "linux-late-lesser",
    imports: { console: Console, threads: Threads, portals: Portals },
    arguments: { calls: bool },
    main: main,
}

/// Longer than a sleep of the program in Linux may be.
const COMPUTES_MICROSECONDS: u64 = 400;
/// Until it does so again, at least, and up to three times as much.
const PAUSE_MICROSECONDS: u64 = 20;

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

fn call() -> ! {
    loop {
        let Ok(opened) = imports::PORTALS.open_object::<dyn Echo>("linux.echo") else {
            pause(5_000);
            continue;
        };
        let _ = imports::CONSOLE.print(format_args!("it calls\n"));
        while opened.proxy().add(1, 2) == Ok(3) {}
        let _ = imports::PORTALS.close(opened.first_portal().into());
    }
}

fn main() {
    if arguments::calls() {
        call();
    }
    let mut random = 1u64;
    loop {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pause(PAUSE_MICROSECONDS + (random >> 33) % (2 * PAUSE_MICROSECONDS));
        let begin = now();
        while now() - begin < ticks(COMPUTES_MICROSECONDS) {
            core::hint::spin_loop();
        }
    }
}
