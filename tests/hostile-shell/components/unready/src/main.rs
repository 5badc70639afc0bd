//! Never serves, and lets its callers wait.
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
    name: "hostile-unready",
    imports: { threads: Threads },
    exports: { captor: Captor = SERVER },
    init: prepare,
}

fn prepare() -> Result<(), Error> {
    loop {
        let _ = imports::THREADS.sleep_until(now() + ticks(1_000_000));
    }
}

impl Captor for Server {
    fn keep(&self) -> Result<u64, Error> {
        Ok(1)
    }

    fn answer(&self) -> Result<u64, Error> {
        Ok(42)
    }
}
