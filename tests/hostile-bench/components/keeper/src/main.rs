//! Keeps the call that `bench` measures, under the name of its server: it sleeps on, whatever it is told.
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
    name: "hostile-bench-keeper",
    imports: { threads: Threads },
    exports: { echo: Captor = SERVER },
}

impl Captor for Server {
    fn keep(&self) -> Result<u64, Error> {
        loop {
            let _ = imports::THREADS.sleep_until(now() + ticks(1_000_000_000));
        }
    }

    fn answer(&self) -> Result<u64, Error> {
        Ok(42)
    }
}
