//! Lets a thread in, and when others wait for its stack, takes its portals back; with the argument `dies`, it does so
//! by its death.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn::{Error, InstanceId, environment};
use cairn_interfaces::{Portals, Threads};
use cairn_test_hostile_stacks_contract::Gate;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

struct Server {
    is_held: AtomicBool,
    is_open: AtomicBool,
}
static SERVER: Server = Server { is_held: AtomicBool::new(false), is_open: AtomicBool::new(false) };

cairn::component! {
    name: "hostile-stacks-gate",
    imports: { portals: Portals, threads: Threads },
    exports: { gate: Gate = SERVER },
    main: main,
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

fn main() {
    while !SERVER.is_held.load(Relaxed) {
        pause(1000);
    }
    // The others come meanwhile.
    pause(20_000);
    assert_ne!(environment::argument(), "dies", "as it was told");
    imports::PORTALS.revoke("gate", InstanceId(0)).expect("revoke");
    SERVER.is_open.store(true, Relaxed);
}

impl Gate for Server {
    fn hold(&self) -> Result<u64, Error> {
        self.is_held.store(true, Relaxed);
        while !self.is_open.load(Relaxed) {
            pause(1000);
        }
        // Others come meanwhile.
        pause(50_000);
        Ok(1)
    }
}
