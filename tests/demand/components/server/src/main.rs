//! Is started by a call, and ended when none comes.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::ReadWindow;
use cairn::{Error, time};
use cairn_interfaces as interfaces;
use cairn_test_demand_server::Rare;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static BEGUN: AtomicU64 = AtomicU64::new(0);
static COUNT: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "demand-server",
    imports: { threads: interfaces::Threads, memory: interfaces::Memory },
    exports: { rare: Rare = SERVER },
    main: main,
}

fn main() {
    BEGUN.fetch_add(1, Relaxed);
}

impl Rare for Server {
    fn count(&self) -> Result<(u64, u64), Error> {
        Ok((BEGUN.load(Relaxed), COUNT.fetch_add(1, Relaxed) + 1))
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; 4096];
        Ok(bytes.copy(&mut buffer)?.iter().map(|byte| u64::from(*byte)).sum())
    }

    fn stay(&self, microseconds: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(time::now() + time::ticks(microseconds))
    }

    fn take_page(&self) -> Result<u64, Error> {
        imports::MEMORY.allocate(1)
    }

    fn fail(&self) -> Result<(), Error> {
        panic!("as asked");
    }
}
