//! Waits in a neighbour for ever; its argument says in which.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, environment};
use cairn_interfaces::{Clock, Console, Portals};
use cairn_test_hostile_places::{Keeper, Waiter};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    waiting: AtomicU64,
}
static SERVER: Server = Server { waiting: AtomicU64::new(0) };

cairn::component! {
    name: "hostile-waiter",
    imports: { console: Console, clock: Clock, keeper: Keeper, portals: Portals },
    exports: { waiter: Waiter = SERVER },
    main: main,
}

/// As many as a client can have, so that no start of the component needs more than the one before.
const TIMERS: usize = 4;
/// Nanoseconds, some three hundred years.
const FOR_EVER: u64 = 10_000_000_000_000_000_000;

fn main() {
    if environment::argument() == "timer" {
        for _ in 1..TIMERS {
            imports::CLOCK.timer(imports::PORTALS, FOR_EVER).expect("a timer");
        }
    }
    let _ = SERVER.wait();
}

impl Waiter for Server {
    fn wait(&self) -> Result<u64, Error> {
        self.waiting.fetch_add(1, Relaxed);
        match environment::argument() {
            "console" => imports::CONSOLE.read_line(&mut [0; 64]).map(|length| length as u64),
            "sleep" => imports::CLOCK.sleep(FOR_EVER).map(|()| 0),
            "timer" => imports::CLOCK.timer(imports::PORTALS, FOR_EVER)?.proxy().wait(),
            _ => imports::KEEPER.keep(),
        }
    }

    fn waiting(&self) -> Result<u64, Error> {
        Ok(self.waiting.load(Relaxed))
    }

    fn generation(&self) -> Result<u64, Error> {
        Ok(environment::startup().generation)
    }
}
