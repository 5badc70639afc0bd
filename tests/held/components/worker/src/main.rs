//! Is called all the time.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Caller, Error, InstanceId, environment, time};
use cairn_interfaces as interfaces;
use cairn_test_held_contract::Work;
use core::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static CALLS: AtomicU64 = AtomicU64::new(0);
static WATCHED: [AtomicU16; 64] = [const { AtomicU16::new(0) }; 64];
static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);

cairn::component! {
    name: "held-worker",
    imports: { threads: interfaces::Threads },
    exports: { work: Work = SERVER },
}

impl Work for Server {
    fn work(&self, caller: Caller) -> Result<u64, Error> {
        if let Some(place) = WATCHED.get(NEXT.load(Relaxed) as usize) {
            NEXT.fetch_add(1, Relaxed);
            place.store(caller.0.0, Relaxed);
        }
        Ok(CALLS.fetch_add(1, Relaxed) + 1)
    }

    fn stay(&self, microseconds: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(time::now() + time::ticks(microseconds))
    }

    fn watch(&self) -> Result<(), Error> {
        WATCHED.iter().for_each(|place| place.store(0, Relaxed));
        NEXT.store(0, Relaxed);
        Ok(())
    }

    fn watched(&self, number: u64) -> Result<u64, Error> {
        Ok(WATCHED.get(number as usize).map_or(0, |place| place.load(Relaxed).into()))
    }

    fn number(&self) -> Result<InstanceId, Error> {
        Ok(environment::startup().instance)
    }
}
