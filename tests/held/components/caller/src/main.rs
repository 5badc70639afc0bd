//! Calls all the time, by an import and by what it opens, and counts what comes back.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, InstanceId, environment, time};
use cairn_interfaces as interfaces;
use cairn_test_held_contract::{Calls, Work};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static BEGUN: AtomicU64 = AtomicU64::new(0);
static BACK: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "held-caller",
    imports: { threads: interfaces::Threads, portals: interfaces::Portals, work: Work },
    exports: { calls: Calls = SERVER },
    main: main,
}

use imports::{PORTALS, THREADS, WORK};

fn count(result: Result<u64, Error>) {
    FAILED.fetch_add(u64::from(result.is_err()), Relaxed);
    BACK.fetch_add(1, Relaxed);
}

fn main() -> Result<(), Error> {
    loop {
        BEGUN.fetch_add(1, Relaxed);
        count(WORK.work());
        BEGUN.fetch_add(1, Relaxed);
        // What is opened while it is held waits as well.
        let opened = PORTALS.open_object::<dyn Work>("worker.work")?;
        count(opened.proxy().work());
        PORTALS.close(opened.first_portal().into())?;
        THREADS.sleep_until(time::now() + time::ticks(100))?;
    }
}

impl Calls for Server {
    fn calls(&self) -> Result<(u64, u64, u64), Error> {
        Ok((BEGUN.load(Relaxed), BACK.load(Relaxed), FAILED.load(Relaxed)))
    }

    fn number(&self) -> Result<InstanceId, Error> {
        Ok(environment::startup().instance)
    }
}
