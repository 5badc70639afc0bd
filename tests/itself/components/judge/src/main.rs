//! Calls who calls itself: as often as it has stacks, once more, and until it dies on one of them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{counter, ticks};
use cairn::{Error, environment};
use cairn_interfaces::{Console, Supervisor, Threads};
use cairn_test_itself_contract::Mirror;

cairn::component! {
    name: "itself-judge",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, mirror: Mirror },
    main: main,
}

use imports::MIRROR;

/// Stacks that the mirror has for its own calls.
const STACKS: u64 = 3;

fn say(text: &str) {
    let _ = imports::CONSOLE.write(text.as_bytes());
}

/// Until it lives again, and has all its stacks.
fn whole() {
    while MIRROR.down(STACKS) != Ok(STACKS + 1) {
        let _ = imports::THREADS.sleep_until(counter() + ticks(1_000));
    }
}

fn main() {
    let own = environment::startup().instance;
    assert_eq!(MIRROR.caller(0), Ok(own));
    for depth in 1..=STACKS {
        assert_eq!(MIRROR.down(depth), Ok(depth + 1));
        let caller = MIRROR.caller(depth).expect("it answers");
        assert!(caller != own, "it calls itself in its own name");
    }
    say("ok: it calls itself as often as it has stacks\n");
    // It waits for itself, until it is called home.
    assert_eq!(MIRROR.down(STACKS + 1), Err(Error::Cancelled));
    assert_eq!(MIRROR.down(STACKS), Ok(STACKS + 1));
    say("ok: once more waits for itself, until it is called home\n");
    for depth in 0..=STACKS {
        assert_eq!(MIRROR.fall(depth), Err(Error::Dead));
        whole();
    }
    say("ok: itself: done\n");
    let _ = imports::SUPERVISOR.halt(0);
}
