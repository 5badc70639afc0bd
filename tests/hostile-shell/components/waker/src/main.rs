//! Keeps whoever calls it, and has a thread that wakes up at any instant: without memory that ends it, and its next life begins at once.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces::Threads;
use cairn_test_hostile_captors::Captor;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-waker",
    imports: { threads: Threads },
    exports: { captor: Captor = SERVER },
    main: main,
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

fn main() {
    loop {
        pause(20 + now() % 1024);
    }
}

impl Captor for Server {
    fn keep(&self) -> Result<u64, Error> {
        loop {
            pause(1_000_000_000);
        }
    }

    fn answer(&self) -> Result<u64, Error> {
        Ok(42)
    }
}
