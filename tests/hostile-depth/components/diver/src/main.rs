//! One of two hostile clients that open each other's export, and whose threads wait as deep in calls of each other
//! as an invocation stack holds; with the argument `again`, only for a while each time.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::rounds;
use cairn_test_hostile_depth_contract::{Dive, DiveProxy};
use core::sync::atomic::{AtomicU32, Ordering};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-diver",
    imports: { portals: interfaces::Portals, threads: interfaces::Threads },
    exports: { dive: Dive = SERVER },
    main: main,
}

/// Threads of each.
const THREADS: usize = 24;
static STACKS: [Stack<4096>; THREADS] = [const { Stack::new() }; THREADS];
/// The other's export.
static OTHER: AtomicU32 = AtomicU32::new(0);

impl Dive for Server {
    fn down(&self) -> Result<(), Error> {
        match DiveProxy::at(OTHER.load(Ordering::Relaxed)).down() {
            Err(Error::InvocationOverflow) => {
                if is_repeated() {
                    rounds::count();
                    return imports::THREADS.sleep_until(now() + ticks(REST));
                }
                let stage = environment::section("stage").ok_or(Error::NotFound)?;
                stage.words(1)[0].fetch_add(1, Ordering::Relaxed);
                // If even that has no room, the caller waits.
                imports::THREADS.sleep_until(u64::MAX)
            }
            other => other,
        }
    }
}

/// Microseconds.
const REST: u64 = 5_000;

fn is_repeated() -> bool {
    environment::argument() == "again"
}

fn dive(_: u64) {
    loop {
        let _ = SERVER.down();
        if !is_repeated() {
            break;
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(REST));
    }
}

fn main() {
    let first = environment::startup().name.starts_with(b"first");
    let name = if first { "second.dive" } else { "first.dive" };
    let other = imports::PORTALS.open_proxy::<dyn Dive>(name).expect("it is open to the other");
    OTHER.store(other.first_portal(), Ordering::Relaxed);
    for stack in &STACKS {
        let thread = spawn(imports::THREADS, stack, dive, 0, 20);
        let _ = thread.expect("the quota has room");
    }
}
